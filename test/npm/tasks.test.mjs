// Calls that take long: with the official package for the extension io.modelcontextprotocol/tasks, and with clients that
// know nothing of it.
import assert from 'node:assert/strict';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { clients, open, serve } from './clients.mjs';
import { copyOf, directory, environment } from './place.mjs';

const packages = join(process.env.MCPBASH_TEST_NPM, 'node_modules', '@modelcontextprotocol', 'ext-tasks', 'dist');
const { withTasks, resultFromTaskOutcome } = await import(join(packages, 'client', 'index.js')); // it has no other form
const patience = { timeout: 600_000 };
const text = (result) => result.content[0].text;

/** Puts a file into the inbox, complete at once. */
function deliver(project, name, content) {
  writeFileSync(join(project, 'inbox', `.${name}`), content);
  renameSync(join(project, 'inbox', `.${name}`), join(project, 'inbox', name));
}

for (const as of clients) {
  test(`a handle: ${as.name}`, patience, async (t) => {
    const { client, project } = await open(t, as, '20-long-calls', { env: { MCPBASH_TASK_AFTER: '1' } });
    await client.listTools();
    const handle = await client.callTool({ name: 'wait-for-file', arguments: { file: 'a.txt' } });
    const { taskId, status, tool } = handle.structuredContent;
    assert.deepEqual({ status, tool, isError: handle.isError }, { status: 'working', tool: 'wait-for-file', isError: false });
    const state = await client.callTool({ name: 'task_status', arguments: { taskId } });
    assert.match(text(state), /State: \d+: waiting for a\.txt/);
    deliver(project, 'a.txt', 'It is here.');
    let result;
    do {
      result = await client.callTool({ name: 'task_wait', arguments: { taskId } });
    } while (result.structuredContent?.status === 'working');
    assert.equal(text(result), 'It is here.');
  });
}

/** A connection of the package: each request is a POST of the stateless protocol. */
function port(address) {
  let last = 0;
  const revision = '2026-07-28';
  return {
    endpointId: address,
    taskCapabilities: { generation: 'v2', capabilities: {} },
    invalidated: false,
    onServerRequest: () => () => {},
    onNotification: () => () => {},
    onInvalidated: () => () => {},
    async dispatch({ method, params = {} }, { signal } = {}) {
      const _meta = {
        ...params._meta,
        'io.modelcontextprotocol/protocolVersion': revision,
        'io.modelcontextprotocol/clientCapabilities': { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } },
      };
      const answer = await fetch(address, {
        method: 'POST', signal,
        headers: {
          'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': revision,
          'Mcp-Method': method, 'Mcp-Name': params.taskId ?? params.name ?? '',
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: ++last, method, params: { ...params, _meta } }),
      });
      const { result, error } = await answer.json();
      return error ? { kind: 'error', error } : { kind: 'result', result };
    },
  };
}

test('a task', patience, async (t) => {
  let end = () => {};
  t.after(() => end()); // before the directories that are made below go
  const project = copyOf(t, '20-long-calls');
  const { address, stop } = await serve(directory(t), environment(t, project));
  end = stop;
  const session = withTasks(port(address), {});
  const call = await session.callTool('wait-for-file', { file: 'b.txt' });
  assert.equal(call.kind, 'task');
  deliver(project, 'b.txt', 'It is here, too.');
  const { outcome } = await call.settle();
  assert.equal(text(resultFromTaskOutcome(outcome)), 'It is here, too.');

  const quick = await session.callTool('show-job', { job: 1 });
  assert.equal(quick.kind, 'immediate');

  const cancelled = await session.callTool('wait-for-file', { file: 'never.txt' });
  await cancelled.cancel();
  assert.equal((await cancelled.result()).status, 'cancelled');
  await session.close();
});
