import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { startService } from '../../harness/service.ts';

test('a base URL with a host name serves repositories as one with an address does', async () => {
  const port = await freePort();
  const service = await startService({ port, baseUrl: `http://localhost:${port}/` });
  try {
    const ada = await service.user('ada');
    const made = await service.call('POST', '/projects', {
      token: ada.token,
      json: { name: 'named', initialize_with_readme: true },
    });
    expect(made.status).toBe(201);
    expect(made.body.http_url_to_repo).toBe(`http://localhost:${port}/ada/named.git`);
    const path = `/projects/${made.body.id}/repository/files/README.md/raw?ref=main`;
    expect((await service.call('GET', path, { token: ada.token })).status).toBe(200);
  } finally {
    await service.stop();
  }
});

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
