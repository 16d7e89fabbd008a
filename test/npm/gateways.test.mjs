// Gateways from npm: the server on standard streams behind supergateway and mcp-proxy, and the server over HTTP behind
// mcp-remote.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import test from 'node:test';
import { clients, serve } from './clients.mjs';
import { copyOf, directory, environment, load, program, server } from './place.mjs';

const patience = { timeout: 600_000 };
const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
const { StdioClientTransport } = load('@modelcontextprotocol/sdk/client/stdio.js');
const older = clients.find(({ name }) => name === '1.x');
const node = program('node');

const freePort = () => new Promise((resolve) => {
  const probe = createServer().listen(0, '127.0.0.1', () => {
    const { port } = probe.address();
    probe.close(() => resolve(String(port)));
  });
});

/** Starts a gateway, which accepts connections some time later, and returns its address. */
async function start(t, env, ...args) {
  const port = await freePort();
  const child = spawn(node, args.map((arg) => arg.replace('PORT', port)), { env, stdio: 'ignore' });
  const ended = new Promise((resolve) => { child.on('exit', resolve); });
  t.after(async () => {
    child.kill();
    await ended;
  });
  const address = `http://127.0.0.1:${port}/mcp`;
  for (;;) { // the test's time limit bounds this
    if (await fetch(address).then(() => true, () => false)) return address;
    assert.equal(child.exitCode, null, 'the gateway has ended');
    await new Promise((resolve) => { setTimeout(resolve, 50); });
  }
}

/** What a client sees through a gateway: the tools, a result, progress, and a question to the user. */
async function use(t, transport, { asks }) {
  const client = older.make({ capabilities: { elicitation: {} } });
  client.setRequestHandler('elicitation/create', () => ({ action: 'accept', content: { choice: 'small', choices: [], confirmed: true } }));
  t.after(() => client.close());
  await client.connect(transport);
  assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['link-account', 'order-pizza', 'sign-up']);
  const ordered = await client.callTool({ name: 'order-pizza', arguments: { size: 'small', toppings: [], confirmed: true } });
  assert.deepEqual(ordered.structuredContent.result, { size: 'small', toppings: [] });
  if (asks) {
    const asked = await client.callTool({ name: 'order-pizza', arguments: { toppings: [], confirmed: true } });
    assert.equal(asked.isError, false, JSON.stringify(asked));
  }
}

test('supergateway in front of standard streams', patience, async (t) => {
  const env = { ...environment(t, copyOf(t, '05-elicitation')) };
  const address = await start(t, env, program('supergateway'), '--stdio', server, '--outputTransport', 'streamableHttp', '--stateful', '--port', 'PORT', '--logLevel', 'none');
  await use(t, new StreamableHTTPClientTransport(new URL(address)), { asks: true });
});

// It passes on no questions to the user.
test('mcp-proxy in front of standard streams', patience, async (t) => {
  const env = { ...environment(t, copyOf(t, '05-elicitation')) };
  const address = await start(t, env, program('mcp-proxy'), '--host', '127.0.0.1', '--port', 'PORT', '--server', 'stream', '--', server);
  await use(t, new StreamableHTTPClientTransport(new URL(address)), { asks: false });
});

test('mcp-remote in front of HTTP', patience, async (t) => {
  const env = environment(t, copyOf(t, '05-elicitation'));
  const { address, stop } = await serve(directory(t), env);
  t.after(stop);
  const transport = new StdioClientTransport({ command: node, args: [program('mcp-remote'), address], env: { PATH: process.env.PATH, HOME: directory(t) }, stderr: 'ignore' });
  await use(t, transport, { asks: true });
});
