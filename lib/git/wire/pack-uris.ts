/** The `packfile-uris` section of version 2's `fetch` (gitprotocol-v2; git's packfile-uri design document). */
import { CopiedPacks } from '../pack/copied-packs.ts';
import { ObjectList } from '../pack/object-list.ts';
import type { Pack } from '../pack/pack-cache.ts';
import type { PackStore } from '../pack/store.ts';
import type { PackDescription } from '../ports.ts';
import { listed, type PackRequest } from './packfile.ts';
import { pkt } from './pkt-line.ts';

/** A short-lived URL of a stored pack that needs no credentials; undefined where there is none. */
export type PackUrl = (pack: PackDescription) => Promise<string | undefined>;

/** Smaller packs are sent in the response: another request would take longer. Bytes. */
const MIN_BYTES = 1024 * 1024;

/**
 * The stored packs that are sent by URL: those whose objects are all part of the response anyway, so a client gets
 * nothing by URL that it would not get without.
 *
 * @param protocols that the client accepts
 * @returns the lines of the section, and the objects that are left for the response; undefined where none was asked for
 */
export async function packUris(
  store: PackStore,
  request: PackRequest,
  protocols: readonly string[],
  urlOf: PackUrl | undefined,
): Promise<{ readonly lines: readonly Uint8Array[]; readonly rest: ObjectList } | undefined> {
  if (urlOf === undefined || protocols.length === 0) return undefined;
  const list = await listed(store, request);
  const copied = new CopiedPacks(list, true);
  const lines: Uint8Array[] = [];
  const sent = new Set<number>();
  for (const [number, pack] of list.packs.entries()) {
    if (!copied.has(number) || pack.description.packSize < MIN_BYTES) continue;
    const url = await urlOf(pack.description);
    if (url === undefined || !protocols.some((protocol) => url.startsWith(`${protocol}:`))) continue;
    lines.push(pkt(`${await checksum(store, pack)} ${url}\n`));
    sent.add(number);
  }
  return { lines, rest: sent.size === 0 ? list : without(list, sent, request.wants) };
}

async function checksum(store: PackStore, { file }: Pack): Promise<string> {
  const trailer = await store.run(() => file.slice(file.size - 20, file.size));
  return Buffer.from(trailer).toString('hex');
}

/** The objects of other packs, and what was asked for by name: a pack in a response is never empty. */
function without(list: ObjectList, sent: ReadonlySet<number>, wants: readonly string[]): ObjectList {
  const rest = new ObjectList();
  rest.receiverAt = list.receiverAt;
  rest.receiverHas = list.receiverHas;
  const wanted = new Set(wants);
  for (let i = 0; i < list.count; i++) {
    const number = list.packOf[i]!;
    if (sent.has(number) && !wanted.has(list.oid(i))) continue;
    rest.add(list.names, 20 * i, list.types[i]!, list.packs[number], list.positions[i]!, list.paths[i]!);
  }
  return rest;
}
