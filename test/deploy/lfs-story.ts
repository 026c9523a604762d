import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { call, digest, makeUser } from './client.ts';
import type { Deployed, Told } from './story.ts';

interface Action {
  readonly href: string;
  readonly header?: Readonly<Record<string, string>>;
}

/** What a client of Git LFS does with a large file, and what an archive has of it. */
export async function lfsStory({ tally, url }: Deployed, { root }: Told): Promise<void> {
  const api = `${url}/api/v4`;
  const bytes = randomBytes(100_000);
  const pointer = { oid: digest(bytes), size: bytes.length };
  let sculptor = '';

  /** Asks how to transfer the object. */
  const batch = async (operation: 'upload' | 'download'): Promise<Readonly<Record<string, Action>>> => {
    const answer = await fetch(`${url}/sculptor/marble.git/info/lfs/objects/batch`, {
      method: 'POST',
      headers: {
        Accept: 'application/vnd.git-lfs+json',
        'Content-Type': 'application/vnd.git-lfs+json',
        Authorization: `Basic ${Buffer.from(`sculptor:${sculptor}`).toString('base64')}`,
      },
      body: JSON.stringify({ operation, transfers: ['basic'], objects: [pointer] }),
    });
    const text = await answer.text();
    assert.equal(answer.status, 200, text);
    return JSON.parse(text).objects[0].actions ?? {};
  };

  await tally.step('an object of Git LFS is uploaded to the bucket, and verified', async () => {
    sculptor = await makeUser(api, root, 'sculptor');
    const body = { name: 'marble', visibility: 'private' };
    const made = await call(`${api}/projects`, { token: sculptor, body });
    assert.equal(made.status, 201, made.text);
    const { upload, verify } = await batch('upload');
    assert.ok(upload && verify);
    const put = await fetch(upload.href, { method: 'PUT', headers: { ...upload.header }, body: bytes });
    assert.equal(put.status, 200, await put.text());
    const verified = await fetch(verify.href, {
      method: 'POST',
      headers: { ...verify.header, 'Content-Type': 'application/vnd.git-lfs+json' },
      body: JSON.stringify(pointer),
    });
    assert.equal(verified.status, 200, await verified.text());
    assert.deepEqual(await batch('upload'), {}, 'it is asked for again');
  });

  await tally.step('it is downloaded from the bucket, byte for byte', async () => {
    const { download } = await batch('download');
    assert.ok(download);
    const got = await fetch(download.href, { headers: { ...download.header } });
    assert.equal(got.status, 200);
    assert.equal(digest(new Uint8Array(await got.arrayBuffer())), pointer.oid);
  });

  await tally.step('an archive has it in place of its pointer', async () => {
    const text = `version https://git-lfs.github.com/spec/v1\noid sha256:${pointer.oid}\nsize ${pointer.size}\n`;
    const file = (file_path: string, content: string) => ({ action: 'create', file_path, content });
    const actions = [file('.gitattributes', '*.bin filter=lfs\n'), file('block.bin', text)];
    const commit = { branch: 'main', commit_message: 'A block', actions };
    const project = `${api}/projects/sculptor%2Fmarble/repository`;
    const made = await call(`${project}/commits`, { token: sculptor, body: commit });
    assert.equal(made.status, 201, made.text);
    const archive = await fetch(`${project}/archive.tar`, { headers: { 'PRIVATE-TOKEN': sculptor } });
    assert.equal(archive.status, 200);
    assert.ok(Buffer.from(await archive.arrayBuffer()).includes(bytes), 'the archive lacks the object');
  });
}
