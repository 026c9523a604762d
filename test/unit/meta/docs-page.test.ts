import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { beforeAll, describe, expect, test } from 'vitest';
import { docsPage, viewerFile } from '../../../lib/api/meta/docs-page.ts';
import { viewerNames } from '../../../lib/api/meta/viewer/files.ts';
import { BUFFERED_LIMIT } from '../../../lib/http/gateway.ts';
import type { Reply } from '../../../lib/http/reply.ts';

const made = () => docsPage({ title: 'A <b> & "c"', note: '`x`: <y> "z"' });

describe('the documentation page', () => {
  let page: string;
  let policy: string;
  beforeAll(async () => {
    const { body, headers } = await made();
    page = String(body);
    policy = headers['Content-Security-Policy']!;
  });

  test('has no URL on another host and none from the root of its own', () => {
    expect(page).not.toMatch(/https?:|(src|href)="\//);
    expect(page).toContain('<title>A &#60;b&#62; &#38; &#34;c&#34;</title>');
    expect(page).toContain('data-note="`x`: &#60;y&#62; &#34;z&#34;"');
  });

  test('runs only its own scripts, and connects only to its own origin', async () => {
    const [, nonce] = /'nonce-([^']+)'/.exec(policy)!;
    const scripts = page.match(/<script\b[^>]*>/g)!;
    expect(scripts).toHaveLength(2);
    for (const script of scripts) expect(script).toContain(`nonce="${nonce}"`);
    expect(policy).toContain("default-src 'none'; connect-src 'self'; script-src 'nonce-");
    expect(policy).not.toMatch(/unsafe-eval|\*|https?:/);
    expect(String((await made()).body)).not.toContain(nonce);
  });
});

describe('the viewer’s files', () => {
  let files: { name: string; reply: Reply; text: string }[];
  beforeAll(async () => {
    files = await Promise.all(
      Object.values(await viewerNames()).map(async (name) => {
        const reply = await viewerFile({ url: `http://localhost/api/docs/${name}` });
        return { name, reply, text: gunzipSync(reply.body as Uint8Array).toString() };
      }),
    );
  });

  test('have a content hash in their names, and are cached', () => {
    for (const { name, reply, text } of files) {
      const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
      expect(name).toMatch(new RegExp(`^(scalar|start|license)\\.${hash}\\.(js|txt)$`));
      expect(reply.headers).toMatchObject({
        'Cache-Control': 'public, max-age=31536000, immutable',
        'Content-Encoding': 'gzip',
      });
    }
  });

  test('fit in a buffered response, in Base64', () => {
    for (const { reply } of files) {
      expect((reply.body as Uint8Array).length * (4 / 3)).toBeLessThan(BUFFERED_LIMIT);
    }
  });

  test('are the viewer, its license and a script that parses', () => {
    const text = (name: string) => files.find((file) => file.name.startsWith(name))!.text;
    expect(text('scalar')).toContain('createApiReference');
    expect(text('license')).toContain('MIT License');
    const script = join(import.meta.dirname, '../../../lib/api/meta/viewer/start.js');
    expect(spawnSync(process.execPath, ['--check', script], { encoding: 'utf8' }).stderr).toBe('');
  });

  test.each(['other.js', 'start.js', '..%2fpack.ts', ''])(
    'do not include "%s", which is not served',
    async (name) => {
      await expect(viewerFile({ url: `http://localhost/api/docs/${name}` })).rejects.toMatchObject({
        status: 404,
      });
    },
  );
});
