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
    http: { type: 'boolean', default: false },
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
const files = new Map(
  options.resources.split(',').map((name) => {
    const file = `${options.content}/resources/${name}`;
    return [`file://${file}`, file];
  }),
);
const template = options.content ? readFileSync(`${options.content}/prompts/${options.prompt}.txt`, 'utf8') : '';

/** A server. Over HTTP each session has one, and each request of the stateless protocol. */
function makeServer() {
  const server = new Server({ name: 'typescript', version: '1.0.0' }, { capabilities: { tools: {}, ...more } });
  // 2.x takes the name of a method where 1.x takes its schema.
  const handle = (method, handler) => server.setRequestHandler(schemas[method] ?? method, handler);
  handle('tools/list', () => ({ tools }));
  handle('tools/call', async ({ params }) => {
    const text = scripts.includes(params.name) ? await run(params.name, params.arguments) : 'done';
    return { content: [{ type: 'text', text }] };
  });
  if (options.content) {
    handle('resources/read', async ({ params: { uri } }) => {
      if (!files.has(uri)) throw new Error('Resource not found');
      return { contents: [{ uri, mimeType: 'text/plain', text: await readFile(files.get(uri), 'utf8') }] };
    });
    handle('prompts/get', ({ params }) => {
      if (params.name !== options.prompt) throw new Error('Prompt not found');
      const text = template.replaceAll(`{{${options.argument}}}`, () => params.arguments?.[options.argument] ?? '');
      return { description: options['prompt-description'], messages: [{ role: 'user', content: { type: 'text', text } }] };
    });
    handle('completion/complete', ({ params: { argument } }) => ({
      completion: { values: ['', ' snippet', ' example'].map((end) => argument.value + end) },
    }));
  }
  return server;
}

if (options.http) {
  const { createServer } = await import('node:http');
  const web = createServer(options.stateless ? await statelessHandler() : await sessionHandler());
  web.keepAliveTimeout = 0; // connections wait while other servers are measured
  web.listen(0, '127.0.0.1', () => console.error(`serving http://127.0.0.1:${web.address().port}/mcp`));
} else if (options.stateless) {
  const { serveStdio } = await import('@modelcontextprotocol/server/stdio');
  serveStdio(makeServer);
} else {
  // Unlike the other SDKs 1.x does not end with its input.
  process.stdin.on('end', () => process.exit(0));
  const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
  await makeServer().connect(new StdioServerTransport());
}

/** 2.x without sessions. */
async function statelessHandler() {
  const { createMcpHandler } = await import('@modelcontextprotocol/server');
  const { toNodeHandler } = await import('@modelcontextprotocol/node');
  return toNodeHandler(createMcpHandler(makeServer));
}

/** 1.x with sessions. Answers are JSON, which is faster than a stream. */
async function sessionHandler() {
  const { StreamableHTTPServerTransport } = await import('@modelcontextprotocol/sdk/server/streamableHttp.js');
  const { randomUUID } = await import('node:crypto');
  const sessions = new Map();
  return async (request, response) => {
    let transport = sessions.get(request.headers['mcp-session-id']);
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        enableJsonResponse: true, sessionIdGenerator: randomUUID, onsessioninitialized: (id) => void sessions.set(id, transport),
      });
      transport.onclose = () => sessions.delete(transport.sessionId);
      await makeServer().connect(transport);
    }
    await transport.handleRequest(request, response);
  };
}
