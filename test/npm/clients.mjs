// The official TypeScript client, 1.x and 2.x, in both protocols: what client.test.mjs uses of
// it is called alike in all of them.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { copyOf, directory, environment, load, server, tap } from './place.mjs';

const one = { ...load('@modelcontextprotocol/sdk/client/index.js'), ...load('@modelcontextprotocol/sdk/client/stdio.js') };
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
      return () => stream.close();
    },
    watchTools: (client) => client.listen({ toolsListChanged: true }),
  },
};

const info = { name: 'npm-test', version: '1' };
const older = { make: (options) => new Older(info, options), Transport: one.StdioClientTransport, notFound: -32002 };
const newer = (mode) => ({
  make: (options) => new two.Client(info, { ...options, versionNegotiation: { mode } }),
  Transport: two.StdioClientTransport,
  notFound: -32602, // it makes that of -32002 too, which only the handshake revisions have (M-40)
});

export const clients = [
  { name: '1.x', ...older, ...protocols.handshake },
  { name: '2.x with a handshake', ...newer('legacy'), ...protocols.handshake },
  { name: '2.x, which finds out', ...newer('auto'), ...protocols.stateless },
  { name: '2.x, stateless', ...newer({ pin: '2026-07-28' }), ...protocols.stateless },
];

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
  const transport = new as.Transport({ command: tap, args: [said, server], env: variables, stderr: 'inherit' });
  const problems = [];
  // This client forgets the token of a call before it looks at the progress that
  // came in the same chunk as the answer.
  client.onerror = (error) => /^Received a progress notification for an unknown token/.test(error.message) || problems.push(error);
  await client.connect(transport);
  const pid = String(transport.pid);
  end = async () => {
    await client.close();
    assert.deepEqual(problems, []);
    judge(as, said, pid);
    assert.deepEqual(readdirSync(variables.TMPDIR), [], 'left behind by the server');
  };
  return { client, project, lines: (mark) => linesOf(said, pid, mark) };
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
  assert.deepEqual(linesOf(said, pid, '.'), ['exit status 0']);
  // The stateless client asks another process what the server speaks, and ends it (M-5).
  const asked = Object.fromEntries(pids.map((one) => [one, linesOf(said, one, '>').map((line) => JSON.parse(line).method)]));
  const { [pid]: methods, ...probes } = asked;
  assert.deepEqual(Object.values(probes), as.stateless ? [['server/discover']] : []);
  assert.equal(methods.includes('initialize'), !as.stateless);
  assert.ok(!methods.includes('server/discover'));
}

/** A result without what only one protocol says, and without the names of directories. */
export function plain(result, { project }) {
  const { resultType, _meta: { 'io.modelcontextprotocol/serverInfo': server, ...meta } = {}, ...rest } = result;
  const text = JSON.stringify(Object.keys(meta).length ? { ...rest, _meta: meta } : rest);
  return JSON.parse(text.replaceAll(project, `/${basename(project)}`));
}
