// The official TypeScript client, 1.x and 2.x, in both protocols: what client.test.mjs uses of
// it is called alike in all of them.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { copyOf, directory, environment, load, server, tap } from './place.mjs';

const one = {
  ...load('@modelcontextprotocol/sdk/client/index.js'), ...load('@modelcontextprotocol/sdk/client/stdio.js'),
  ...load('@modelcontextprotocol/sdk/client/streamableHttp.js'),
};
const two = { ...load('@modelcontextprotocol/client'), ...load('@modelcontextprotocol/client/stdio') };
const types = load('@modelcontextprotocol/sdk/types.js');

/** What 2.x calls by name, 1.x knows by schema. */
const schemas = {
  'elicitation/create': types.ElicitRequestSchema,
  'sampling/createMessage': types.CreateMessageRequestSchema,
  'roots/list': types.ListRootsRequestSchema,
  'notifications/message': types.LoggingMessageNotificationSchema,
  'notifications/resources/updated': types.ResourceUpdatedNotificationSchema,
  'notifications/tools/list_changed': types.ToolListChangedNotificationSchema,
};

/** 1.x with the methods of 2.x. */
class Older extends one.Client {
  setRequestHandler(method, handler) { super.setRequestHandler(schemas[method] ?? method, handler); }

  setNotificationHandler(method, handler) { super.setNotificationHandler(schemas[method] ?? method, handler); }

  callTool(params, options) { return super.callTool(params, undefined, options); }
}

/** What clients of an protocol do differently. */
const protocols = {
  handshake: {
    alive: (client) => client.ping(),
    // The level holds for the session.
    level: async (client, level) => void await client.setLoggingLevel(level),
    watch: async (client, uri) => {
      await client.subscribeResource({ uri });
      return () => client.unsubscribeResource({ uri });
    },
  },
  stateless: {
    stateless: true,
    alive: (client) => client.listTools(undefined, { cacheMode: 'refresh' }), // there is no ping
    // The level is part of each request (M-71).
    level: (_, level) => ({ 'io.modelcontextprotocol/logLevel': level }),
    watch: async (client, uri) => {
      const stream = await client.listen({ resourceSubscriptions: [uri] });
      assert.deepEqual(stream.honoredFilter, { resourceSubscriptions: [uri] });
      return async () => {
        await stream.close();
        await protocols.stateless.alive(client); // nothing answers the end of a stream, so the server may not have read it
      };
    },
    watchTools: (client) => client.listen({ toolsListChanged: true }),
  },
};

const info = { name: 'npm-test', version: '1' };
const older = {
  make: (options) => new Older(info, options),
  sdk: one, notFound: -32002,
  request: (client, method, params) => client.request({ method, params }, types.ResultSchema),
};
/** A schema that every result has. */
const any = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }) } };
const newer = (mode) => ({
  make: (options) => new two.Client(info, { ...options, versionNegotiation: { mode } }),
  sdk: two,
  request: (client, method, params) => client.request({ method, params }, any),
  notFound: -32602, // it makes that of -32002 too, which only the handshake revisions have (M-40)
});

/** Clients that are everywhere do each example in make test, too. */
const overLines = [
  { name: '1.x', everywhere: true, ...older, ...protocols.handshake },
  { name: '2.x with a handshake', ...newer('legacy'), ...protocols.handshake },
  { name: '2.x, which finds out', ...newer('auto'), ...protocols.stateless },
  { name: '2.x, stateless', everywhere: true, ...newer({ pin: '2026-07-28' }), ...protocols.stateless },
];

/** Each client over standard streams, and over HTTP. */
export const clients = [...overLines, ...overLines.map((as) => ({ ...as, name: `${as.name}, over HTTP`, http: true }))];

/** Starts a server over HTTP behind the tap, and returns its address and a way to end it. */
export async function serve(said, env, ...args) {
  const child = spawn(tap, [said, '-http', server, 'serve', '--http', '127.0.0.1:0', ...args], { env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => { child.on('close', resolve); });
  const address = await new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (line) => resolve(line.trim()));
    child.on('error', reject);
    child.on('close', () => reject(new Error('the server does not start')));
  });
  return {
    address, pid: String(child.pid), stop: async () => {
      child.stdin.end();
      await ended;
    },
  };
}

/** Connects a client to a server for an example; the connection ends with the test. */
export async function open(t, as, example, { capabilities = {}, handlers = {}, env = {} } = {}) {
  let end = () => {};
  t.after(() => end()); // before the directories that are made below go
  const client = as.make({ capabilities });
  for (const [method, answer] of Object.entries(handlers)) {
    client.setRequestHandler(method, answer);
  }
  const project = copyOf(t, example);
  const said = directory(t);
  const variables = { ...environment(t, project), ...env };
  const problems = [];
  // This client forgets the token of a call before it looks at the progress that
  // came in the same chunk as the answer. 1.x reports its own end of a stream.
  client.onerror = ({ message }) => /^Received a progress notification for an unknown token|^SSE stream disconnected: AbortError/.test(message) || problems.push(message);
  const { transport, stop, ...process } = as.http ? await overHTTP(as, said, variables) : overStreams(as, said, variables);
  end = stop;
  await client.connect(transport);
  const pid = process.pid ?? String(transport.pid);
  end = async () => {
    if (as.http && !as.stateless) await transport.terminateSession();
    await client.close();
    const before = [...problems]; // a closed 1.x still tries to resume the stream of a cancelled call
    await stop();
    assert.deepEqual(before, []);
    judge(as, said, pid);
    assert.deepEqual(readdirSync(variables.TMPDIR), [], 'left behind by the server');
  };
  return { client, project, lines: (mark) => linesOf(said, pid, mark) };
}

function overStreams(as, said, env) {
  const transport = new as.sdk.StdioClientTransport({ command: tap, args: [said, server], env, stderr: 'inherit' });
  return { transport, stop: () => {} };
}

/** The roots of a client on this machine are those of the server's, so that it can trust them. */
async function overHTTP(as, said, env) {
  const { address, pid, stop } = await serve(said, { ...env, MCPBASH_HTTP_TRUST_CLIENT_ROOTS: 'true' });
  return { transport: new as.sdk.StreamableHTTPClientTransport(new URL(address)), pid, stop };
}

/** The lines that a server was sent (>) or wrote (<), and what is wrong with them (!). */
const linesOf = (said, pid, mark) => readFileSync(join(said, pid), 'utf8').split('\n')
  .filter((line) => line.startsWith(`${mark} `)).map((line) => line.slice(2));

/** What became of the servers that one connection started. */
function judge(as, said, pid) {
  const pids = readdirSync(said);
  for (const one of pids) {
    assert.deepEqual(linesOf(said, one, '!'), []);
  }
  assert.deepEqual(linesOf(said, pid, '.'), [as.http ? 'exit status 143' : 'exit status 0']);
  // The stateless client asks another process what the server speaks, and ends it (M-5).
  const asked = Object.fromEntries(pids.map((one) => [one, linesOf(said, one, '>').map((line) => JSON.parse(line).method)]));
  const { [pid]: methods, ...probes } = asked;
  assert.deepEqual(Object.values(probes), as.stateless && !as.http ? [['server/discover']] : []);
  assert.equal(methods.includes('initialize'), !as.stateless);
  assert.equal(methods.includes('server/discover'), Boolean(as.stateless && as.http));
}

/** A result without what only one protocol says, and without the names of directories. */
export function plain(result, { project }) {
  const { resultType, _meta: { 'io.modelcontextprotocol/serverInfo': server, ...meta } = {}, ...rest } = result;
  const text = JSON.stringify(Object.keys(meta).length ? { ...rest, _meta: meta } : rest);
  return JSON.parse(text.replaceAll(project, `/${basename(project)}`));
}
