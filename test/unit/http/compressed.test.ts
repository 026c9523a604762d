import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { compressedJson } from '../../../lib/http/compressed.ts';

const value = { text: 'a'.repeat(10_000) };
const answerTo = (headers: Record<string, string>) =>
  compressedJson(value, { headers: new Headers(headers) });

test.each(['gzip', 'br, gzip;q=0.5', 'deflate, GZIP ; q=1.0'])(
  'a response is compressed for Accept-Encoding %s',
  async (accepted) => {
    const { status, headers, body } = await answerTo({ 'accept-encoding': accepted });
    expect([status, headers['Content-Encoding'], headers['Vary']]).toEqual([200, 'gzip', 'Accept-Encoding']);
    expect(JSON.parse(gunzipSync(body as Uint8Array).toString())).toEqual(value);
  },
);

test.each(['', 'identity', 'gzip;q=0', 'br', 'xgzip'])(
  'a response is not compressed for Accept-Encoding "%s"',
  async (accepted) => {
    const { headers, body } = await answerTo({ 'accept-encoding': accepted });
    expect(headers).not.toHaveProperty('Content-Encoding');
    expect([JSON.parse(String(body)), headers['Vary']]).toEqual([value, 'Accept-Encoding']);
  },
);

test('a compressed response is not sent again to a client that has it', async () => {
  const { headers } = await answerTo({ 'accept-encoding': 'gzip' });
  const again = await answerTo({ 'accept-encoding': 'gzip', 'if-none-match': headers['ETag']! });
  expect([again.status, again.body, again.headers['ETag']]).toEqual([304, null, headers['ETag']]);
});
