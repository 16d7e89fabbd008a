// The official tool for bundles accepts those of every example.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import test from 'node:test';
import { copyOf, directory, examples, long, program, server, serverTools } from './place.mjs';

const bundler = `${server.slice(0, -'mcp-bash'.length)}mcp-bundle`;

const run = (file, args, options) => new Promise((resolve, reject) => {
  execFile(file, args, { timeout: 600_000, ...options }, (error, stdout, stderr) => {
    if (error) {
      return reject(new Error(`${file} ${args.join(' ')}: ${error.message}\n${stdout}${stderr}`));
    }
    resolve(stdout);
  });
});

/** Bundles a project, and returns what mcp-bundle says of it. */
async function bundle(t, project, ...args) {
  const home = directory(t);
  const env = { PATH: `${program('')}:${process.env.PATH}`, HOME: home, TMPDIR: directory(t), GIT_CONFIG_NOSYSTEM: '1' };
  return JSON.parse(await run(bundler, ['bundle', '--json', '--output', directory(t), ...args], { cwd: project, env }));
}

const tool = (...args) => run(program('mcpb'), args, { env: { ...process.env, PATH: `${program('')}:${process.env.PATH}` } });

// The official tool starts three times for each example.
for (const [example, all] of Object.entries(examples).filter((_, i) => long || i % 3 === 0)) {
  const tools = all.filter((name) => !serverTools.includes(name));
  test(`${example}: the bundle is valid, and unpacks as it was packed`, async (t) => {
    const made = await bundle(t, copyOf(t, example));
    assert.equal(made.tools, tools.length);
    assert.match(await tool('info', made.path), /Size: /);
    const there = join(directory(t), 'there');
    await tool('unpack', made.path, there);
    assert.match(await tool('validate', join(there, 'manifest.json')), /passes/);
    const manifest = JSON.parse(readFileSync(join(there, 'manifest.json')));
    assert.deepEqual((manifest.tools ?? []).map(({ name }) => name), tools);
    assert.ok(statSync(join(there, manifest.server.entry_point)).mode & 0o100);
  });
}

test('a bundle with everything a manifest can have', async (t) => {
  const project = copyOf(t, '00-hello');
  writeFileSync(join(project, 'server.d/server.meta.json'), JSON.stringify({
    name: 'hello', version: '1.0.0', title: 'Hello', description: 'Greets', license: 'MIT', keywords: ['a', 'b'],
    author: { name: 'Ada', email: 'ada@example.com', url: 'https://example.com' }, repository: 'git@example.com:ada/hello',
    homepage: 'https://example.com/h', documentation: 'https://example.com/d', support: 'https://example.com/s',
    privacy_policies: ['https://example.com/p'], compatibility: { claude_desktop: '>=1.0.0', runtimes: { node: '>=18' } },
    localization: { resources: 'l/${locale}.json', default_locale: 'en-US' }, _meta: { 'com.example': { a: 1 } },
    user_config: { key: { type: 'string', title: 'Key', sensitive: true }, dirs: { type: 'directory', title: 'D', description: 'd', multiple: true } },
    user_config_env_map: { key: 'KEY' }, user_config_args_map: ['dirs'],
    platform_overrides: { darwin: { env: { MORE: '1' } } },
  }));
  const made = await bundle(t, project);
  const there = join(directory(t), 'there');
  await tool('unpack', made.path, there);
  await tool('validate', join(there, 'manifest.json'));
  for (const version of ['0.3', '0.4']) {
    const again = await bundle(t, project, '--manifest-version', version);
    const dir = join(directory(t), version);
    await tool('unpack', again.path, dir);
    await tool('validate', join(dir, 'manifest.json'));
  }
});

test('a bundle of the official tool is read, and both tools unpack the same from it', async (t) => {
  const made = await bundle(t, copyOf(t, '00-hello'));
  const source = join(directory(t), 'source');
  await tool('unpack', made.path, source);
  writeFileSync(join(source, 'server', 'grüße.txt'), 'hello '.repeat(1000));
  writeFileSync(join(source, 'server', 'empty.txt'), '');
  const packed = join(directory(t), 'packed.mcpb');
  await tool('pack', source, packed);
  const [ours, theirs] = [join(directory(t), 'ours'), join(directory(t), 'theirs')];
  await run(bundler, ['unpack', packed, ours]);
  await tool('unpack', packed, theirs);
  const content = (dir) => readdirSync(dir, { recursive: true, withFileTypes: true }).filter((e) => e.isFile())
    .map((e) => join(e.parentPath, e.name)).sort()
    .map((file) => [relative(dir, file), readFileSync(file).toString('base64')]);
  assert.ok(content(ours).some(([name]) => name === 'server/grüße.txt'));
  assert.deepEqual(content(ours), content(theirs));
});

test('a signature after the end of a bundle is reported, because strict readers refuse the bundle', async (t) => {
  const made = await bundle(t, copyOf(t, '00-hello'));
  await tool('sign', made.path, '--self-signed', '--cert', join(directory(t), 'cert.pem'), '--key', join(directory(t), 'key.pem'));
  const seen = JSON.parse(await run(bundler, ['inspect', '--json', made.path]));
  assert.equal(seen.signed, true);
  assert.equal(seen.valid, false);
  await assert.rejects(run(bundler, ['validate', made.path]), /signature/);
  const there = join(directory(t), 'there');
  await run(bundler, ['unpack', made.path, there]);
  assert.ok(existsSync(join(there, 'manifest.json')));
});
