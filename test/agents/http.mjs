// A server over Streamable HTTP that has one tool, and records what its clients send. It stands in for `mcp-bash serve
// --http`: the tests are about the entries that clients read, and see each header.
import { createServer } from 'node:http';

const tool = { name: 'hello', description: 'Says hello', inputSchema: { type: 'object' } };
const results = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'demo', version: '1.0.0' },
  }),
  'tools/list': () => ({ tools: [tool] }),
  ping: () => ({}),
};

/** Starts a server that refuses requests without the token. It ends with the test. */
export async function httpServer(t, token) {
  const seen = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => { body += chunk; });
    request.on('end', () => {
      seen.push({ path: request.url, headers: request.headers, body });
      const send = (status, value) => response.writeHead(status, { 'content-type': 'application/json' })
        .end(value === undefined ? '' : JSON.stringify(value));
      if (request.url !== '/mcp') return send(404);
      if (request.headers.authorization !== `Bearer ${token}`) return send(401);
      if (request.method !== 'POST') return send(405);
      const { id, method, params } = JSON.parse(body);
      if (id === undefined) return send(202);
      const result = results[method]?.(params);
      const error = { code: -32601, message: 'Method not found' };
      return send(200, { jsonrpc: '2.0', id, ...(result ? { result } : { error }) });
    });
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  t.after(() => { server.closeAllConnections(); server.close(); });
  const accepted = () => seen.filter(({ headers, path }) => path === '/mcp' && headers.authorization === `Bearer ${token}`);
  return {
    url: `http://127.0.0.1:${server.address().port}/mcp`,
    seen,
    /** Whether a client with the token has asked for a method. */
    asked: (method) => accepted().some(({ body }) => body.includes(`"${method}"`)),
  };
}
