import { randomUUID } from 'node:crypto';
import { open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BundleRef, bundleHeader } from './bundle.ts';
import type { DeriveContext, DerivedBuilder } from './maintenance/derived-builder.ts';
import { giveWay } from './maintenance/give-way.ts';
import { writePack } from './pack/write.ts';
import { enumerate } from './reachable.ts';
import type { RefDatabase } from './ref-database.ts';
import { spacePrefix } from './refname.ts';
import { LimitExceeded } from './work.ts';

/** With more tags, the bundle holds the branch alone, because readers of the header read all of it. */
const MAX_TAGS = 10_000;
/** The scratch disk of a Lambda function has 512 MB. */
const MAX_BYTES = 450 * 2 ** 20;

/** Bundles the default branch and the tags, with all they reach, in a scratch file that the caller removes. */
export const bundleBuilder: DerivedBuilder = {
  kind: 'bundle',
  build: async (context) => {
    const path = join(tmpdir(), `bundle-${randomUUID()}`);
    try {
      const size = await writeBundle(path, await bundledRefs(context.refs), context);
      if (size !== undefined) return { content: { kind: 'file', path, fileSize: size, size }, note: '' };
    } catch (error) {
      await rm(path, { force: true });
      throw error;
    }
    await rm(path, { force: true });
    return undefined;
  },
};

/** @returns its size; undefined when its time ended first. @throws LimitExceeded */
async function writeBundle(
  path: string,
  refs: readonly BundleRef[],
  { store, stopsAt }: DeriveContext,
): Promise<number | undefined> {
  const list = await enumerate(store, { include: [...new Set(refs.map(({ oid }) => oid))] });
  const file = await open(path, 'w');
  try {
    const head = bundleHeader(refs);
    await file.write(head);
    let size = head.length;
    for await (const bytes of writePack(store, list)) {
      if (Date.now() > stopsAt) return undefined;
      size += bytes.length;
      if (size > MAX_BYTES) throw new LimitExceeded(`a bundle of more than ${MAX_BYTES} bytes`);
      await file.writeFile(bytes);
      await giveWay();
    }
    return size;
  } finally {
    await file.close();
  }
}

async function bundledRefs(refs: RefDatabase): Promise<BundleRef[]> {
  const { head, refs: walk } = await refs.view({ prefixes: [spacePrefix('tags')] });
  const branch = (await refs.get([head])).get(head);
  const tip = branch ? [{ name: 'HEAD', oid: branch.oid }, branch] : [];
  const tags: BundleRef[] = [];
  for await (const some of walk(spacePrefix('tags'))) {
    tags.push(...some);
    if (tags.length > MAX_TAGS) break;
  }
  return [...tip, ...(tags.length > MAX_TAGS ? [] : tags)].map(({ name, oid }) => ({ name, oid }));
}
