// A server made with the official TypeScript SDK: its plain Server class, which
// takes tools as they are and so does less than McpServer.
import { execFile } from 'node:child_process';
import { parseArgs } from 'node:util';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

const { values: options } = parseArgs({
  options: {
    tools: { type: 'string', default: '10' },
    scripts: { type: 'string', default: '' },
    // What all servers serve is told, not repeated here.
    names: { type: 'string', default: '' },
    schema: { type: 'string', default: '{}' },
    description: { type: 'string', default: '' },
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

const server = new Server({ name: 'typescript', version: '1.0.0' }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
  const text = scripts.includes(params.name) ? await run(params.name, params.arguments) : 'done';
  return { content: [{ type: 'text', text }] };
});
// Unlike the other SDKs this one does not end with its input.
process.stdin.on('end', () => process.exit(0));
await server.connect(new StdioServerTransport());
