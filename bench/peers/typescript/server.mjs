// A server made with the official TypeScript SDK: its plain Server class, which
// takes tools as they are and so does less than McpServer.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import {
  CallToolRequestSchema,
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';

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
  },
});

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
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
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
  server.setRequestHandler(ReadResourceRequestSchema, async ({ params: { uri } }) => {
    if (!files.has(uri)) throw new Error('Resource not found');
    return { contents: [{ uri, mimeType: 'text/plain', text: await readFile(files.get(uri), 'utf8') }] };
  });
  const template = readFileSync(`${options.content}/prompts/${options.prompt}.txt`, 'utf8');
  server.setRequestHandler(GetPromptRequestSchema, ({ params }) => {
    if (params.name !== options.prompt) throw new Error('Prompt not found');
    const text = template.replaceAll(`{{${options.argument}}}`, () => params.arguments?.[options.argument] ?? '');
    return { description: options['prompt-description'], messages: [{ role: 'user', content: { type: 'text', text } }] };
  });
  server.setRequestHandler(CompleteRequestSchema, ({ params: { argument } }) => ({
    completion: { values: ['', ' snippet', ' example'].map((end) => argument.value + end) },
  }));
}
// Unlike the other SDKs this one does not end with its input.
process.stdin.on('end', () => process.exit(0));
await server.connect(new StdioServerTransport());
