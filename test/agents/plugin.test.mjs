// One plugin, made by `mcp-bundle plugin` and listed by `mcp-bundle marketplace`, is installed in each agent that takes
// plugins. The agent starts its server and sees its tool; once it is uninstalled, it does not (PL-20, PL-31).
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import assert from 'node:assert/strict';
import test from 'node:test';
import { BIN, both, codexAnswers, codexStatus, offers, place, said, says } from './common.mjs';

/** The system, which has the same name for Node and for Go: linux or darwin. */
const PLATFORM = process.platform;

/** Runs a command that has to succeed. */
async function run(p, program, ...args) {
  const { code, out } = await p.run(program, ...args);
  assert.equal(code, 0, `${program} ${args.join(' ')}\n${out}`);
  return out;
}

/** A repository with a plugin, whose server records what agents say to it, and the folder that its tools would get. */
async function repository(p) {
  write(join(p.project, 'LICENSE'), 'MIT\n');
  write(join(p.project, 'skills', 'greet', 'SKILL.md'), '---\nname: greet\ndescription: Greets. Use when somebody arrives.\n---\nGreet.\n');
  write(join(p.project, 'tools', 'where', 'tool.meta.json'), '{"name": "where", "description": "Its roots"}');
  write(join(p.project, 'tools', 'where', 'tool.sh'), '#!/bin/sh\nprintf "= %s\\n" "$MCP_ROOTS_PATHS" >"$WHERE"\n', 0o755);
  const repo = join(p.home, 'repo');
  const plugin = join(repo, 'plugins', 'demo');
  await run(p, 'mcp-bundle', 'plugin', p.project, '--output', plugin, '--runtime-dir', join(BIN, 'runtimes'),
    '--platform', PLATFORM, '--arch', process.arch === 'x64' ? 'amd64' : 'arm64');
  write(join(repo, 'plugins.json'), JSON.stringify({
    name: 'acme', title: 'Acme', owner: { name: 'Acme' }, plugins: [{ path: 'plugins/demo' }],
  }));
  await run(p, 'mcp-bundle', 'marketplace', join(repo, 'plugins.json'));
  // The program in the plugin becomes one that first has the fallback roots recorded, and then is recorded itself.
  const bin = join(plugin, 'server', '.mcp-bash', 'bin');
  const platform = readdirSync(bin).find((name) => name.startsWith(`${PLATFORM}-`));
  const program = join(bin, platform, 'mcp-bash');
  renameSync(program, join(bin, platform, 'real'));
  write(program, `#!/bin/sh
real=$(dirname "$0")/real
export WHERE="${BIN}/said/$$.where" MCPBASH_TOOL_ENV_MODE=inherit MCPBASH_TOOL_ENV_INHERIT_ALLOW=true
"$real" request tools/call '{"name":"where"}' </dev/null >/dev/null 2>&1
exec "${BIN}/tap" "${BIN}/said" "$real" "$@"
`, 0o755);
  return { repo, plugin };
}

function write(file, text, mode = 0o644) {
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, text);
  chmodSync(file, mode);
}

/** The files of a home that have to do with the plugin, by their path or by a text in them. */
function traces(home, dir = home) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const file = join(dir, entry.name);
    if (dir === home && ['repo', 'before', 'demo', 'work'].includes(entry.name)) return [];
    if (entry.isDirectory()) return traces(home, file);
    if (!entry.isFile()) return [];
    const path = file.slice(home.length + 1);
    const found = /(^|[/_@-])demo([/_@-]|$)/.test(path) || /demo@acme|repo\/plugins\/demo/.test(readFileSync(file, 'latin1'));
    return found ? [path] : [];
  });
}

/** The agent starts the server in the user's folder, or replaces a variable by its path (PL-30). */
const names = (p) => p.project;

/** The agent tells nothing, and the server takes no folder (PL-31). */
const none = () => '';

const agents = [
  {
    name: 'claude-code',
    check: async (p, { plugin }) => {
      await run(p, 'claude', 'plugin', 'validate', '--profile', 'directory', plugin);
      await run(p, 'claude', 'plugin', 'validate', join(plugin, '..', '..'));
    },
    install: [['claude', 'plugin', 'marketplace', 'add', 'REPO'], ['claude', 'plugin', 'install', 'demo@acme']],
    sees: says('claude', ['mcp', 'list'], /^plugin:demo:demo: .*Connected/m),
    skill: says('claude', ['plugin', 'details', 'demo@acme'], /\bgreet\b/),
    uninstall: [['claude', 'plugin', 'uninstall', 'demo@acme'], ['claude', 'plugin', 'marketplace', 'remove', 'acme']],
    // A copy that it has marked as unused, its log, and the name in declinedPlugins.
    leaves: /^\.claude\.json$|^\.claude\/plugins\/cache\/acme\/demo\/|^\.cache\/claude-cli-nodejs\/.*\/mcp-logs-plugin-demo-demo\//,
    workspace: names, declaresRoots: true,
  },
  {
    name: 'codex',
    install: [['codex', 'plugin', 'marketplace', 'add', 'REPO'], ['codex', 'plugin', 'add', 'demo@acme']],
    sees: both(says('codex', ['mcp', 'list'], /^demo .* enabled /m), codexStatus),
    skill: async (p) => {
      const { data, out } = await codexAnswers(p, 'skills/list', { cwds: [p.project] });
      return { yes: data.some(({ skills }) => skills.some(({ name }) => name === 'demo:greet')), out };
    },
    uninstall: [['codex', 'plugin', 'remove', 'demo@acme'], ['codex', 'plugin', 'marketplace', 'remove', 'acme']],
    workspace: none,
  },
  {
    name: 'codex with MCPBASH_ROOTS',
    prepare: (p) => { p.env = { MCPBASH_ROOTS: p.project }; },
    install: [['codex', 'plugin', 'marketplace', 'add', 'REPO'], ['codex', 'plugin', 'add', 'demo@acme']],
    sees: codexStatus,
    uninstall: [['codex', 'plugin', 'remove', 'demo@acme'], ['codex', 'plugin', 'marketplace', 'remove', 'acme']],
    workspace: names,
  },
  {
    name: 'gemini',
    prepare: (p) => { p.env = { GEMINI_CLI_TRUST_WORKSPACE: 'true' }; },
    check: (p, { plugin }) => run(p, 'gemini', 'extensions', 'validate', plugin),
    install: [['gemini', 'extensions', 'install', '--consent', 'PLUGIN']],
    sees: says('gemini', ['mcp', 'list'], /demo \(from demo\): .*Connected/),
    skill: says('gemini', ['skills', 'list'], /^greet\b/m),
    uninstall: [['gemini', 'extensions', 'uninstall', 'demo']],
    workspace: names,
  },
  {
    name: 'copilot',
    install: [['copilot', 'plugin', 'marketplace', 'add', 'REPO'], ['copilot', 'plugin', 'install', 'demo@acme']],
    sees: both(says('copilot', ['mcp', 'list'], /^\s+demo /m), offers('copilot', ['-p', 'hello', '--allow-all-tools'], (p, url) => {
      p.env = {
        COPILOT_OFFLINE: 'true', COPILOT_MODEL: 'none', COPILOT_PROVIDER_API_KEY: 'none', COPILOT_PROVIDER_BASE_URL: url,
      };
    }, /"name":"demo-hello"/)),
    skill: says('copilot', ['skill', 'list'], /\bgreet\b/),
    uninstall: [['copilot', 'plugin', 'uninstall', 'demo@acme'], ['copilot', 'plugin', 'marketplace', 'remove', 'acme']],
    leaves: /^\.copilot\/settings\.json$/, // "demo@acme": false in its list of plugins
    workspace: names,
  },
  {
    name: 'qwen',
    install: [['qwen', 'extensions', 'install', '--consent', 'PLUGIN']],
    sees: says('qwen', ['mcp', 'list'], /demo: .*Connected/),
    skill: says('qwen', ['extensions', 'list'], /\bgreet\b/),
    uninstall: [['qwen', 'extensions', 'uninstall', 'demo']],
    workspace: none, // `mcp list` declares no roots; sessions do (CLI-752)
  },
];

for (const agent of agents) {
  test(`the plugin in ${agent.name}`, async (t) => {
    const p = await place(t);
    const made = await repository(p);
    p.project = join(p.home, 'work');
    mkdirSync(p.project);
    agent.prepare?.(p);
    await agent.check?.(p, made);
    const before = join(p.home, 'before');
    cpSync(made.repo, before, { recursive: true });
    const fill = (words) => words.map((word) => ({ REPO: made.repo, PLUGIN: made.plugin })[word] ?? word);

    said();
    for (const words of agent.install) await run(p, ...fill(words));
    const after = await agent.sees(p);
    assert.ok(after.yes, after.out);
    const { requests, faults, roots } = said();
    assert.deepEqual(faults, []);
    assert.ok(requests.some(({ method }) => method === 'tools/list') || agent.name !== 'copilot', JSON.stringify(requests));
    assert.ok(roots.length > 0, 'the server was not started');
    for (const value of roots) assert.equal(value, agent.workspace(p));
    if (agent.declaresRoots) assert.match(JSON.stringify(requests), /"roots":/);

    const skill = await agent.skill?.(p);
    assert.ok(skill?.yes !== false, skill?.out);
    said();

    for (const words of agent.uninstall) await run(p, ...fill(words));
    const gone = await agent.sees(p);
    assert.ok(!gone.yes, gone.out);
    assert.deepEqual(said().requests, []);
    const left = traces(p.home);
    assert.deepEqual(left.filter((path) => !agent.leaves?.test(path)), []);
    assert.equal(left.length > 0, agent.leaves !== undefined, 'it leaves less than docs/PLUGINS.md states');
    // The server makes empty folders in its project; nothing else may change.
    const { out } = await p.run('diff', '-rq', before, made.repo);
    assert.doesNotMatch(out, /differ/, out);
    for (const line of out.split('\n')) assert.match(line, /^$|\/server: (prompts|resources|\.registry)$/, out);
  });
}
