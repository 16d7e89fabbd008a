// A server made with the official TypeScript SDK: its plain Server class, which
// takes tools as they are and so does less than McpServer. With --stateless it is
// made with 2.x, which speaks revision 2026-07-28, else with 1.x.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';

const { values: options } = parseArgs({
  options: {
    tools: { type: 'string', default: '10' },
    scripts: { type: 'string', default: '' },
    content: { type: 'string', default: '' },
    // What all servers serve is told, not repeated here.
    names: { type: 'string', default: '' },
    schema: { type: 'string', default: '{}' },
    description: { type: 'string', default: '' },
    resources: { type: 'string', default: '' },
    prompt: { type: 'string', default: '' },
    'prompt-description': { type: 'string', default: '' },
    argument: { type: 'string', default: '' },
    stateless: { type: 'boolean', default: false },
  },
});

const { Server } = await import(options.stateless ? '@modelcontextprotocol/server' : '@modelcontextprotocol/sdk/server/index.js');
const types = options.stateless ? {} : await import('@modelcontextprotocol/sdk/types.js');
const schemas = {
  'tools/list': types.ListToolsRequestSchema,
  'tools/call': types.CallToolRequestSchema,
  'resources/read': types.ReadResourceRequestSchema,
  'prompts/get': types.GetPromptRequestSchema,
  'completion/complete': types.CompleteRequestSchema,
};

const scripts = options.scripts ? options.names.split(',') : [];
const names = [...scripts];
for (let i = names.length; i < Number(options.tools); i++) names.push(`tool-${String(i).padStart(5, '0')}`);
const tools = names.map((name) => ({
  name,
  description: options.description.replace('NAME', name),
  inputSchema: JSON.parse(options.schema),
}));

const run = (name, args) =>
  new Promise((resolve, reject) => {
    const env = { ...process.env, MCP_TOOL_ARGS_JSON: JSON.stringify(args ?? {}) };
    execFile('bash', [`${options.scripts}/${name}/tool.sh`], { env, maxBuffer: Infinity }, (error, stdout) =>
      error ? reject(error) : resolve(stdout),
    );
  });

const more = options.content ? { resources: {}, prompts: {}, completions: {} } : {};
const server = new Server({ name: 'typescript', version: '1.0.0' }, { capabilities: { tools: {}, ...more } });
// 2.x takes the name of a method where 1.x takes its schema.
const handle = (method, handler) => server.setRequestHandler(schemas[method] ?? method, handler);
handle('tools/list', () => ({ tools }));
handle('tools/call', async ({ params }) => {
  const text = scripts.includes(params.name) ? await run(params.name, params.arguments) : 'done';
  return { content: [{ type: 'text', text }] };
});
if (options.content) {
  const files = new Map(
    options.resources.split(',').map((name) => {
      const file = `${options.content}/resources/${name}`;
      return [`file://${file}`, file];
    }),
  );
  handle('resources/read', async ({ params: { uri } }) => {
    if (!files.has(uri)) throw new Error('Resource not found');
    return { contents: [{ uri, mimeType: 'text/plain', text: await readFile(files.get(uri), 'utf8') }] };
  });
  const template = readFileSync(`${options.content}/prompts/${options.prompt}.txt`, 'utf8');
  handle('prompts/get', ({ params }) => {
    if (params.name !== options.prompt) throw new Error('Prompt not found');
    const text = template.replaceAll(`{{${options.argument}}}`, () => params.arguments?.[options.argument] ?? '');
    return { description: options['prompt-description'], messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
  handle('completion/complete', ({ params: { argument } }) => ({
    completion: { values: ['', ' snippet', ' example'].map((end) => argument.value + end) },
  }));
}
// Unlike the other SDKs 1.x does not end with its input.
process.stdin.on('end', () => process.exit(0));
if (options.stateless) {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  serveStdio(() => server);
} else {
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  await server.connect(new StdioServerTransport());
}
