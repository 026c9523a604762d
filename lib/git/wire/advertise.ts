/**
 * The answer to `GET info/refs?service=...` (gitprotocol-http "Discovering References", gitprotocol-pack
 * "Reference Discovery", gitprotocol-v2 "Capability Advertisement").
 */
import { ZERO_OID } from '../oid.ts';
import type { Ref } from '../ports.ts';
import { batched } from './batched.ts';
import { AGENT } from './capabilities.ts';
import { FLUSH, pkt } from './pkt-line.ts';
import type { Repository } from './repository.ts';
import { type Visibility, type VisibleRefs, visibleRefs } from './visible.ts';

/** What is served by URL. */
export interface Offers {
  readonly bundles: boolean;
  readonly packUris: boolean;
}

export type Service = 'git-upload-pack' | 'git-receive-pack';

/** The body of the answer, as a stream. Version 2 lists capabilities only; clients do not use it for pushes. */
export async function advertise(
  repository: Repository,
  service: Service,
  version: 0 | 1 | 2,
  { visible, ...offers }: { readonly visible: Visibility | undefined } & Offers,
): Promise<Iterable<Uint8Array> | AsyncIterable<Uint8Array>> {
  if (service === 'git-upload-pack' && version === 2) return batched(capabilityAdvertisement(offers));
  return refAdvertisement(service, version, await visibleRefs(repository.refs, visible));
}

/** Version 2: no refs, and no `# service` line (git's own http-backend leaves it out too). */
export function* capabilityAdvertisement({ bundles, packUris }: Offers): Generator<Uint8Array> {
  yield pkt('version 2\n');
  yield pkt(`agent=${AGENT}\n`);
  yield pkt('ls-refs=unborn\n');
  yield pkt(`fetch=shallow wait-for-done filter${packUris ? ' packfile-uris' : ''}\n`);
  yield pkt('server-option\n');
  if (bundles) yield pkt('bundle-uri\n');
  yield pkt('object-format=sha1\n');
  yield FLUSH;
}

/** Clients send the ones they use with the first want. */
const UPLOAD_PACK = [
  'multi_ack',
  'multi_ack_detailed',
  'no-done',
  'thin-pack',
  'side-band',
  'side-band-64k',
  'ofs-delta',
  'shallow',
  'deepen-since',
  'deepen-not',
  'deepen-relative',
  'no-progress',
  'include-tag',
  'filter',
  'allow-tip-sha1-in-want',
  'allow-reachable-sha1-in-want',
];

/** Clients send the ones they use with the first command. */
const RECEIVE_PACK = [
  'report-status',
  'report-status-v2',
  'delete-refs',
  'side-band-64k',
  'quiet',
  'atomic',
  'ofs-delta',
  'push-options',
];

async function* refAdvertisement(
  service: Service,
  version: number,
  visible: VisibleRefs,
): AsyncGenerator<Uint8Array, void, undefined> {
  yield* batched([pkt(`# service=${service}\n`), FLUSH, ...(version === 1 ? [pkt('version 1\n')] : [])]);
  const capabilities = capabilityList(service, visible);
  let first = true;
  const packet = (line: string) => {
    const sent = first ? `${line}\0${capabilities}\n` : `${line}\n`;
    first = false;
    return pkt(sent);
  };
  if (service === 'git-upload-pack' && visible.headRef) yield packet(`${visible.headRef.oid} HEAD`);
  const linesOf = service === 'git-upload-pack' ? fetchLines : pushLines;
  for await (const refs of visible.refs()) yield* batched(refs.flatMap((ref) => linesOf(ref).map(packet)));
  if (first) yield packet(`${ZERO_OID} capabilities^{}`);
  yield FLUSH;
}

function capabilityList(service: Service, visible: VisibleRefs): string {
  const names = service === 'git-upload-pack' ? [...UPLOAD_PACK] : [...RECEIVE_PACK];
  if (service === 'git-upload-pack' && visible.headRef) names.push(`symref=HEAD:${visible.head}`);
  return [...names, 'object-format=sha1', `agent=${AGENT}`].join(' ');
}

const fetchLines = ({ oid, name, peeled }: Ref): string[] => [
  `${oid} ${name}`,
  ...(peeled ? [`${peeled} ${name}^{}`] : []),
];

const pushLines = ({ oid, name }: Ref): string[] => [`${oid} ${name}`];
