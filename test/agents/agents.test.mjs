// Each agent is configured by `mcp-scaffold config --client NAME --apply` in a home of its
// own, for the user and for a project, and has to see the scaffolded server; after --remove
// it does not (CLI-711, CLI-715). Some have to speak the revision of the protocol that they do.
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import assert from 'node:assert/strict';
import test from 'node:test';
import { BIN, both, codexStatus, offers, place, said, says, write } from './common.mjs';
import { httpServer } from './http.mjs';

/** Whether Auggie has started the server. It asks its own service, for which a server of ours stands in. */
async function auggieStarts(p) {
  const service = createServer((request, response) => {
    request.resume().on('end', () => response.writeHead(request.url.includes('chat') ? 400 : 200).end('{}'));
  });
  await new Promise((resolve) => { service.listen(0, '127.0.0.1', resolve); });
  const tenantURL = `http://127.0.0.1:${service.address().port}/`;
  p.env = { AUGMENT_SESSION_AUTH: JSON.stringify({ accessToken: 'none', tenantURL, scopes: ['email'] }) };
  const { out } = await p.run('auggie', '--print', 'hello');
  service.close();
  return { yes: /✅ demo/.test(out), out };
}

/** Whether Cline asks the server for its tools when it runs a prompt. It has no model then. */
async function clineAsks(p) {
  const { out } = await p.run('cline', '-P', 'ollama', '-k', 'none', '-m', 'none', '--retries', '1', 'say hello');
  return { yes: said().requests.some(({ method }) => method === 'tools/list'), out };
}

/** Whether a project's server is connected after a person has approved it, for which it has to wait. */
const approved = (program, waits, sees) => async (p) => {
  const before = await waits(p);
  if (!before.yes) return before;
  await p.run(program, 'mcp', 'approve', 'demo');
  return sees(p);
};

/** They ask what the server speaks, and then speak revision 2026-07-28 with it, without a handshake. */
function stateless({ requests, faults }) {
  assert.deepEqual(faults, []);
  const methods = requests.map(({ method }) => method);
  assert.equal(methods[0], 'server/discover');
  for (const method of ['subscriptions/listen', 'tools/list']) assert.ok(methods.includes(method), `${methods}`);
  for (const { params } of requests) assert.equal(params._meta['io.modelcontextprotocol/protocolVersion'], '2026-07-28');
}

/** They send roots, so they need no variable for the workspace (CLI-752). */
function declaresRoots({ requests }) {
  assert.match(JSON.stringify(requests), /"roots":/);
}

/** They give the server the path of the workspace in MCPBASH_ROOTS (CLI-752). */
function namesWorkspace({ roots }, p) {
  assert.ok(roots.length > 0);
  for (const value of roots) assert.equal(value, p.project);
}

// noVariables: it sends a variable in a header as it is in the file.
const agents = [
  {
    client: 'claude-code',
    speaks: [stateless, declaresRoots],
    sees: says('claude', ['mcp', 'list'], /^demo: .*Connected/m),
    // Servers of a project wait for a person's approval.
    seesProject: says('claude', ['mcp', 'list'], /^demo: .*(Pending|approval)/im),
  },
  {
    client: 'codex',
    sees: both(says('codex', ['mcp', 'list'], /^demo .* enabled /m), codexStatus),
    // What starts servers reads no project's file before there is a conversation.
    seesProject: says('codex', ['mcp', 'list'], /^demo .* enabled /m),
    trust: (p) => write(p, '.codex/config.toml', `[projects."${p.project}"]\ntrust_level = "trusted"\n`),
  },
  {
    client: 'gemini',
    sees: says('gemini', ['mcp', 'list'], /demo: .*Connected/),
    prepare: (p) => { p.env = { GEMINI_CLI_TRUST_WORKSPACE: 'true' }; },
  },
  {
    client: 'copilot',
    speaks: [stateless, namesWorkspace],
    sees: both(says('copilot', ['mcp', 'list'], /^\s+demo /m), offers('copilot', ['-p', 'hello', '--allow-all-tools'], (p, url) => {
      p.env = {
        COPILOT_OFFLINE: 'true', COPILOT_MODEL: 'none', COPILOT_PROVIDER_API_KEY: 'none', COPILOT_PROVIDER_BASE_URL: url,
      };
    }, /"name":"demo-hello"/)),
    trust: (p) => write(p, '.copilot/config.json', JSON.stringify({ trusted_folders: [p.project] })),
  },
  { client: 'opencode', sees: says('opencode', ['mcp', 'list'], /demo .*connected/), speaks: [declaresRoots] },
  {
    client: 'qwen',
    sees: says('qwen', ['mcp', 'list'], /demo: .*Connected/),
    seesProject: approved('qwen', says('qwen', ['mcp', 'list'], /demo: .*Pending/), says('qwen', ['mcp', 'list'], /demo: .*Connected/)),
  },
  { client: 'droid', sees: says('droid', ['mcp', 'list'], /^ *demo +stdio +connected/m), speaks: [namesWorkspace] },
  {
    client: 'amp',
    speaks: [namesWorkspace],
    prepare: (p) => { p.env = { AMP_API_KEY: 'none', AMP_URL: 'http://127.0.0.1:9' }; },
    sees: says('amp', ['mcp', 'doctor'], /^demo .*: connected/m),
    seesProject: approved('amp', says('amp', ['mcp', 'doctor'], /^demo .*: awaiting approval/m),
      says('amp', ['mcp', 'doctor'], /^demo \(workspace.*: connected/m)),
  },
  { client: 'kilo', sees: says('kilo', ['mcp', 'list'], /demo .*connected/), speaks: [declaresRoots] },
  { client: 'auggie', noVariables: true, sees: both(says('auggie', ['mcp', 'list'], /✓ demo /), auggieStarts), speaks: [namesWorkspace] },
  { client: 'cline', noVariables: true, scopes: ['user'], sees: both(says('cline', ['config', 'mcp', '--json'], /"name":"demo"/), clineAsks) },
  {
    client: 'continue',
    scopes: ['user'], // its command line does not read a project's file
    prepare: (p) => write(p, '.continue/config.yaml', 'name: Local Config\nversion: 1.0.0\nschema: v1\nmodels:\n' +
      '  - {name: none, provider: openai, model: none, apiKey: none, apiBase: "http://127.0.0.1:9/v1"}\n'),
    sees: offers('cn', ['-p', 'hello'], (p, url) => {
      const file = join(p.home, '.continue/config.yaml');
      writeFileSync(file, readFileSync(file, 'utf8').replace(/http:[^"]*/, url));
    }, /"name":"(demo_)?hello"/),
  },
];

for (const agent of agents) {
  test(agent.client, async (t) => {
    for (const scope of agent.scopes ?? ['user', 'project']) {
      await t.test(scope, async (t) => {
        const p = await place(t);
        agent.prepare?.(p);
        if (scope === 'project') agent.trust?.(p);
        const sees = scope === 'project' && agent.seesProject || agent.sees;

        await p.config('--client', agent.client, '--apply', '--scope', scope);
        const after = await sees(p);
        assert.ok(after.yes, after.out);
        const talk = said();
        if (sees === agent.sees) for (const check of agent.speaks ?? []) check(talk, p);
        assert.match(await p.config('--client', agent.client, '--apply', '--scope', scope), /already/);

        await p.config('--client', agent.client, '--remove', '--scope', scope);
        const gone = await sees(p);
        assert.ok(!gone.yes, gone.out);
      });
    }
  });
}

for (const agent of agents) {
  test(`${agent.client} over HTTP`, async (t) => {
    const p = await place(t);
    agent.prepare?.(p);
    const secret = 'secret-of-the-test';
    const server = await httpServer(t, secret);
    const token = agent.noVariables ? ['--header', `Authorization: Bearer ${secret}`] : ['--token-env', 'DEMO_TOKEN'];
    const entry = ['--client', agent.client, '--http', server.url, '--header', 'X-Team: blue', ...token];
    await p.config(...entry, '--apply', '--scope', 'user');
    p.secret = { DEMO_TOKEN: secret };
    const { out } = await agent.sees(p);
    assert.ok(server.asked('initialize'), `${out}\n${JSON.stringify(server.seen, null, 1)}`);
    assert.equal(server.seen[0].headers['x-team'], 'blue');
    assert.match(await p.config(...entry, '--apply', '--scope', 'user'), /already/);
    await p.config(...entry, '--remove', '--scope', 'user');
    server.seen.length = 0;
    await agent.sees(p);
    assert.deepEqual(server.seen, []);
  });
}

/** Serves the project over HTTP, through the tap, and returns the address. */
async function serveHTTP(t, p) {
  const child = p.start('tap', join(BIN, 'said'), '-http', join(BIN, 'real', 'mcp-bash'), 'serve', '--http', '127.0.0.1:0');
  const ended = new Promise((resolve) => { child.on('close', resolve); });
  t.after(async () => {
    child.stdin.end();
    await ended;
    assert.deepEqual(said().faults, []);
  });
  child.stderr.resume();
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').once('data', (line) => resolve(line.trim()));
    ended.then(() => reject(new Error('the server does not start')));
  });
}

// The server itself over HTTP, with those that are used most.
for (const client of ['claude-code', 'codex', 'gemini', 'copilot', 'opencode']) {
  test(`${client} sees the server over HTTP`, async (t) => {
    const agent = agents.find((one) => one.client === client);
    const p = await place(t);
    agent.prepare?.(p);
    const entry = ['--client', client, '--http', await serveHTTP(t, p), '--name', 'demo', '--scope', 'user'];
    await p.config(...entry, '--apply');
    const after = await agent.sees(p);
    assert.ok(after.yes, after.out);
    await p.config(...entry, '--remove');
    const gone = await agent.sees(p);
    assert.ok(!gone.yes, gone.out);
  });
}
