/**
 * What `GET info/refs?service=...` answers (gitprotocol-http "Discovering References", gitprotocol-pack
 * "Reference Discovery", gitprotocol-v2 "Capability Advertisement").
 */
import { ZERO_OID } from '../oid.ts';
import type { RefSnapshot } from '../ports.ts';
import { batched } from './batched.ts';
import { AGENT } from './capabilities.ts';
import { FLUSH, pkt } from './pkt-line.ts';
import type { Repository } from './repository.ts';
import { type Visibility, type VisibleRefs, visibleRefs } from './visible.ts';

export type Service = 'git-upload-pack' | 'git-receive-pack';

/** The whole answer's body. Version 2 names capabilities only, and no client pushes with it. */
export async function advertise(
  repository: Repository,
  service: Service,
  version: 0 | 1 | 2,
  { visible, bundles }: { readonly visible: Visibility | undefined; readonly bundles: boolean },
): Promise<Iterable<Uint8Array>> {
  if (service === 'git-upload-pack' && version === 2) return batched(capabilityAdvertisement(bundles));
  const snapshot = await visibleRefs(repository.refs, visible);
  return batched(refAdvertisement(service, version, snapshot));
}

/** Version 2: no refs, and no `# service` line (git's own http-backend leaves it out too). */
export function* capabilityAdvertisement(bundles: boolean): Generator<Uint8Array> {
  yield pkt('version 2\n');
  yield pkt(`agent=${AGENT}\n`);
  yield pkt('ls-refs=unborn\n');
  yield pkt('fetch=shallow wait-for-done filter\n');
  yield pkt('server-option\n');
  if (bundles) yield pkt('bundle-uri\n');
  yield pkt('object-format=sha1\n');
  yield FLUSH;
}

/** Asked for with the first want. */
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

/** Asked for with the first command. */
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

function* refAdvertisement(service: Service, version: number, snapshot: VisibleRefs): Generator<Uint8Array> {
  yield pkt(`# service=${service}\n`);
  yield FLUSH;
  if (version === 1) yield pkt('version 1\n');
  const capabilities = capabilityList(service, snapshot);
  let first = true;
  for (const line of service === 'git-upload-pack' ? fetchLines(snapshot) : pushLines(snapshot)) {
    yield pkt(first ? `${line}\0${capabilities}\n` : `${line}\n`);
    first = false;
  }
  if (first) yield pkt(`${ZERO_OID} capabilities^{}\0${capabilities}\n`);
  yield FLUSH;
}

function capabilityList(service: Service, snapshot: VisibleRefs): string {
  const names = service === 'git-upload-pack' ? [...UPLOAD_PACK] : [...RECEIVE_PACK];
  if (service === 'git-upload-pack' && snapshot.headRef) names.push(`symref=HEAD:${snapshot.head}`);
  return [...names, 'object-format=sha1', `agent=${AGENT}`].join(' ');
}

function* fetchLines(snapshot: VisibleRefs): Generator<string> {
  if (snapshot.headRef) yield `${snapshot.headRef.oid} HEAD`;
  for (const ref of snapshot.refs) {
    yield `${ref.oid} ${ref.name}`;
    if (ref.peeled) yield `${ref.peeled} ${ref.name}^{}`;
  }
}

function* pushLines(snapshot: RefSnapshot): Generator<string> {
  for (const ref of snapshot.refs) yield `${ref.oid} ${ref.name}`;
}
