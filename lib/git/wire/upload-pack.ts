/**
 * The server side of a fetch over stateless HTTP: versions 0 and 1 (gitprotocol-pack, "Packfile Negotiation";
 * gitprotocol-http, "Smart Service git-upload-pack") and version 2 (gitprotocol-v2).
 */

import { suitsBitmap } from '../bitmap/reached-objects.ts';
import type { Oid } from '../oid.ts';
import { prepareClone } from '../reachable.ts';
import { spacePrefix } from '../refname.ts';
import { capabilityAdvertisement, type Offers } from './advertise.ts';
import { type Bundles, bundleUri } from './bundle-uri.ts';
import { WireError } from './error.ts';
import { type KeptPacks, keptPack } from './kept-pack.ts';
import { quoted, textLine } from './line.ts';
import { lsRefs, parseLsRefs } from './ls-refs.ts';
import { Negotiation } from './negotiate.ts';
import { type PackUrl, packUris } from './pack-uris.ts';
import { beforePack, type PackLimit, type PackRequest, packfile } from './packfile.ts';
import { DELIM, FLUSH, type PktReader, pkt } from './pkt-line.ts';
import type { Repository } from './repository.ts';
import { type ShallowInfo, shallowInfo } from './shallow.ts';
import { type FetchRequest, oidArgument, parseFetch, readWants, type WantSection } from './upload-request.ts';
import { readV2Request } from './v2-request.ts';
import { type Visibility, type VisibleRefs, visibleRefs } from './visible.ts';
import { checkWants } from './wants.ts';

export interface UploadPackOptions {
  /** Refs that are advertised. Only what these reach can be fetched, by name or by id. Default: all. */
  readonly visible?: Visibility;
  /** Absent if bundles are not offered. */
  readonly bundles?: Bundles;
  /** Absent if packs are not offered. */
  readonly packUrl?: PackUrl;
  /** Absent if none are kept. */
  readonly keptPacks?: KeptPacks | undefined;
  /** A fetch that would need a larger pack is refused before its pack begins. Default: none. */
  readonly packLimit?: PackLimit | undefined;
  /** Called when a pack begins, once for each fetch. */
  readonly onPack?: () => void;
  /** Lines for the terminals of all clients, those without progress too. */
  readonly notice?: string;
  /** Called with errors after the answer has started; the client gets a message without the cause. */
  readonly onError?: (cause: unknown) => void;
  /** What the client may know about such an error. */
  readonly failureText?: (cause: unknown) => string | undefined;
}

export const offersOf = ({ bundles, packUrl }: UploadPackOptions): Offers => ({
  bundles: bundles !== undefined,
  packUris: packUrl !== undefined,
});

type Answer = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * Reads the request and answers it; the pack is generated while the answer is read.
 * @throws WireError, before anything is answered
 */
export async function uploadPack(
  repository: Repository,
  version: 0 | 1 | 2,
  reader: PktReader,
  options: UploadPackOptions = {},
): Promise<Answer> {
  if (version !== 2) return fetchV0(repository, reader, options);
  const request = await readV2Request(reader);
  if (request === undefined) return [];
  if (request.command === 'ls-refs')
    return lsRefs(repository, parseLsRefs(request.arguments), options.visible);
  if (request.command === 'fetch') return fetchV2(repository, request.arguments, options);
  if (request.command === 'bundle-uri') return bundleUri(repository, options.bundles, options.visible);
  if (request.command === 'capabilities') return capabilityAdvertisement(offersOf(options));
  throw new WireError('request-malformed', `invalid command ${quoted(request.command)}`);
}

async function fetchV0(
  repository: Repository,
  reader: PktReader,
  options: UploadPackOptions,
): Promise<Answer> {
  const section = await readWants(reader);
  if (section === undefined) return [];
  repository.store.prepare(section.wants);
  const visible = await visibleRefs(repository.refs, options.visible);
  await checkWants(repository.store, visible, section.wants);
  const shallow = await shallowInfo(repository.store, visible, section);
  const lines: Uint8Array[] = [];
  if (section.deepen !== undefined) lines.push(...shallowLines(shallow), FLUSH);
  const negotiation = new Negotiation(repository.store, section.wants, shallow.cut);
  const goOn = await negotiateV0(reader, section, negotiation, lines);
  if (!goOn) return lines;
  const wanted: PackRequest = {
    wants: [...section.wants, ...shallow.extraWants],
    common: negotiation.common,
    cut: shallow.cut,
    notice: options.notice,
    filter: section.filter,
    tags: await annotated(visible, section.options.includeTag),
    options: section.options,
    onError: options.onError,
    failureText: options.failureText,
    limit: options.packLimit,
  };
  await beforePack(repository.store, wanted);
  options.onPack?.();
  return following(lines, packfile(repository.store, wanted));
}

/** @returns whether the pack follows now; otherwise the client sends another request with more haves */
async function negotiateV0(
  reader: PktReader,
  section: WantSection,
  negotiation: Negotiation,
  lines: Uint8Array[],
): Promise<boolean> {
  const { multiAck } = section;
  let last: Oid | undefined;
  let sentReady = false;
  for (let count = 0; ; count++) {
    const packet = await reader.next();
    // A client that requests a depth reads the boundary first, and sends its haves with the next request.
    if (packet.kind === 'end' && count === 0) return false;
    if (packet.kind === 'end') throw new WireError('truncated', 'the request ends before its haves do');
    if (packet.kind === 'flush') {
      if (multiAck === 'detailed' && last !== undefined && (await negotiation.ready('at the end'))) {
        sentReady = true;
        lines.push(pkt(`ACK ${last} ready\n`));
      }
      if (last === undefined || multiAck !== 'none') lines.push(pkt('NAK\n'));
      if (!section.noDone || !sentReady) return false;
      lines.push(pkt(`ACK ${last}\n`));
      return true;
    }
    const line = packet.kind === 'data' ? textLine(packet.data) : packet.kind;
    if (line === 'done') {
      if (last === undefined) lines.push(pkt('NAK\n'));
      else if (multiAck !== 'none') lines.push(pkt(`ACK ${last}\n`));
      return true;
    }
    if (!line.startsWith('have ')) {
      throw new WireError('request-malformed', `git upload-pack: expected SHA1 list, got ${quoted(line)}`);
    }
    const oid = oidArgument(line, 'have ');
    if (await negotiation.have(oid)) {
      if (multiAck === 'detailed') lines.push(pkt(`ACK ${oid} common\n`));
      else if (multiAck === 'continue') lines.push(pkt(`ACK ${oid} continue\n`));
      else if (last === undefined) lines.push(pkt(`ACK ${oid}\n`));
      last = oid;
    } else {
      if (multiAck === 'none' || !(await negotiation.ready('midway'))) continue;
      // The server does not have it, but acknowledges it, so that the client stops walking this line of history.
      if (multiAck === 'detailed') sentReady = true;
      lines.push(pkt(`ACK ${oid} ${multiAck === 'detailed' ? 'ready' : 'continue'}\n`));
    }
  }
}

async function fetchV2(
  repository: Repository,
  lines: readonly string[],
  options: UploadPackOptions,
): Promise<Answer> {
  const request = parseFetch(lines);
  if (request.wants.length === 0 && !request.waitForDone) return [];
  repository.store.prepare(request.wants);
  if (isWhole(request)) prepareClone(repository.store);
  const visible = await visibleRefs(repository.refs, options.visible);
  await checkWants(repository.store, visible, request.wants);
  const shallow = await shallowInfo(repository.store, visible, request);
  const negotiation = new Negotiation(repository.store, request.wants, shallow.cut);
  const acks: Uint8Array[] = [];
  for (const oid of request.haves) if (await negotiation.have(oid)) acks.push(pkt(`ACK ${oid}\n`));
  const sections: Uint8Array[] = [];
  if (!request.done && (request.haves.length > 0 || request.waitForDone)) {
    sections.push(pkt('acknowledgments\n'), ...(acks.length > 0 ? acks : [pkt('NAK\n')]));
    if (request.waitForDone || !(await negotiation.ready('at the end'))) return [...sections, FLUSH];
    sections.push(pkt('ready\n'), DELIM);
  }
  if (request.deepen !== undefined || request.shallow.length > 0) {
    sections.push(pkt('shallow-info\n'), ...shallowLines(shallow), DELIM);
  }
  const tags = await annotated(visible, request.options.includeTag);
  const wanted: PackRequest = {
    wants: [...request.wants, ...shallow.extraWants],
    common: negotiation.common,
    cut: shallow.cut,
    notice: options.notice,
    filter: request.filter,
    tags,
    options: request.options,
    onError: options.onError,
    failureText: options.failureText,
    limit: options.packLimit,
    kept: await keptPack(repository.store, request, tags, options.keptPacks),
  };
  await beforePack(repository.store, wanted);
  options.onPack?.();
  const uris = await packUris(repository.store, wanted, request.uriProtocols, options.packUrl);
  if (uris !== undefined && uris.lines.length > 0)
    sections.push(pkt('packfile-uris\n'), ...uris.lines, DELIM);
  sections.push(pkt('packfile\n'));
  return following(sections, packfile(repository.store, wanted, uris?.rest));
}

/** Whether the request is a full clone of the wants. */
const isWhole = ({ haves, deepen, shallow, filter }: FetchRequest) =>
  haves.length === 0 &&
  deepen === undefined &&
  suitsBitmap({ shallow: new Set(shallow), ...(filter && { filter }) });

/** Without a newline, as git's upload-pack sends them: libgit2 refuses any other length. */
function shallowLines(info: ShallowInfo): Uint8Array[] {
  return [
    ...info.shallow.map((oid) => pkt(`shallow ${oid}`)),
    ...info.unshallow.map((oid) => pkt(`unshallow ${oid}`)),
  ];
}

async function annotated(visible: VisibleRefs, wanted: boolean): Promise<ReadonlyMap<Oid, Oid>> {
  const tags = new Map<Oid, Oid>();
  if (!wanted) return tags;
  for await (const refs of visible.refs(spacePrefix('tags')))
    for (const ref of refs) if (ref.peeled) tags.set(ref.oid, ref.peeled);
  return tags;
}

async function* following(
  lines: readonly Uint8Array[],
  pack: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (lines.length > 0) yield Buffer.concat(lines);
  yield* pack;
}
