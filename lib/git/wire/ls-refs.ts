/** The `ls-refs` command of version 2 (gitprotocol-v2, "ls-refs"). */
import type { Ref } from '../ports.ts';
import { batched } from './batched.ts';
import { WireError } from './error.ts';
import { quoted } from './line.ts';
import { FLUSH, pkt } from './pkt-line.ts';
import type { Repository } from './repository.ts';
import { type Visibility, visibleRefs } from './visible.ts';

export interface LsRefsRequest {
  readonly peel: boolean;
  readonly symrefs: boolean;
  readonly unborn: boolean;
  /** Only refs that start with one of these; none asks for all. */
  readonly prefixes: readonly string[];
}

/** Past this many prefixes git itself ignores them and lists everything. */
const MAX_PREFIXES = 65_536;

/** @throws WireError `request-malformed` on an argument that is none of this command's */
export function parseLsRefs(lines: readonly string[]): LsRefsRequest {
  const prefixes: string[] = [];
  const flags = { peel: false, symrefs: false, unborn: false };
  for (const line of lines) {
    if (line === 'peel' || line === 'symrefs' || line === 'unborn') flags[line] = true;
    else if (line.startsWith('ref-prefix ')) prefixes.push(line.slice('ref-prefix '.length));
    else throw new WireError('request-malformed', `unexpected line for ls-refs: ${quoted(line)}`);
  }
  return { ...flags, prefixes: prefixes.length > MAX_PREFIXES ? [] : prefixes };
}

export async function lsRefs(
  repository: Repository,
  request: LsRefsRequest,
  visible?: Visibility,
): Promise<Iterable<Uint8Array>> {
  const matches = prefixMatcher(request.prefixes);
  const snapshot = await visibleRefs(repository.refs, visible, commonPrefix(request.prefixes));
  return batched(lines());

  function* lines(): Generator<Uint8Array> {
    if (matches('HEAD')) {
      const target = request.symrefs ? ` symref-target:${snapshot.head}` : '';
      if (snapshot.headRef) yield pkt(`${snapshot.headRef.oid} HEAD${target}${peeled(snapshot.headRef)}\n`);
      else if (request.unborn && (visible?.(snapshot.head) ?? true)) yield pkt(`unborn HEAD${target}\n`);
    }
    for (const ref of snapshot.refs)
      if (matches(ref.name)) yield pkt(`${ref.oid} ${ref.name}${peeled(ref)}\n`);
    yield FLUSH;
  }

  function peeled(ref: Ref): string {
    return request.peel && ref.peeled ? ` peeled:${ref.peeled}` : '';
  }
}

/** What all asked prefixes share below `refs/`: the database then reads no more than that part. */
function commonPrefix(prefixes: readonly string[]): string | undefined {
  const below = prefixes.filter((prefix) => prefix.startsWith('refs/'));
  // "HEAD" and short names match no ref name; the rest of them ("r", "refs") may match any.
  if (below.length === 0 || prefixes.some((prefix) => 'refs/'.startsWith(prefix) && prefix !== 'refs/')) {
    return undefined;
  }
  let shared = below[0]!;
  for (const prefix of below) while (!prefix.startsWith(shared)) shared = shared.slice(0, -1);
  return shared === 'refs/' ? undefined : shared;
}

/** Sorted prefixes, of which none starts with another, answer by binary search: many names, many prefixes. */
function prefixMatcher(prefixes: readonly string[]): (name: string) => boolean {
  if (prefixes.length === 0) return () => true;
  const sorted: string[] = [];
  for (const prefix of [...prefixes].sort()) {
    const last = sorted.at(-1);
    if (last === undefined || !prefix.startsWith(last)) sorted.push(prefix);
  }
  return (name) => {
    let low = 0;
    let high = sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (sorted[middle]! <= name) low = middle + 1;
      else high = middle;
    }
    return low > 0 && name.startsWith(sorted[low - 1]!);
  };
}
