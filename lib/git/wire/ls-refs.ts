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
  /** Only refs that start with one of these; none for all refs. */
  readonly prefixes: readonly string[];
}

/** With more prefixes, git ignores them and lists all refs. */
const MAX_PREFIXES = 65_536;

/** @throws WireError `request-malformed` for an unknown argument */
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

/** Streams the answer. */
export async function lsRefs(
  repository: Repository,
  request: LsRefsRequest,
  visible?: Visibility,
): Promise<AsyncIterable<Uint8Array>> {
  const sorted = distinct(request.prefixes);
  const matches = prefixMatcher(sorted);
  const ranges = rangesOf(sorted);
  const view = await visibleRefs(repository.refs, visible, ranges);
  return lines();

  async function* lines(): AsyncGenerator<Uint8Array, void, undefined> {
    if (matches('HEAD')) {
      const target = request.symrefs ? ` symref-target:${view.head}` : '';
      if (view.headRef) yield pkt(`${view.headRef.oid} HEAD${target}${peeled(view.headRef)}\n`);
      else if (request.unborn && (visible?.(view.head) ?? true)) yield pkt(`unborn HEAD${target}\n`);
    }
    for (const range of ranges ?? ['']) {
      for await (const refs of view.refs(range))
        yield* batched(
          refs
            .filter(({ name }) => matches(name))
            .map((ref) => pkt(`${ref.oid} ${ref.name}${peeled(ref)}\n`)),
        );
    }
    yield FLUSH;
  }

  function peeled(ref: Ref): string {
    return request.peel && ref.peeled ? ` peeled:${ref.peeled}` : '';
  }
}

/** With more ranges, reads all refs from the common prefix. */
const MAX_RANGES = 16;

/** The prefixes of refs to read, in order; undefined for all refs. */
function rangesOf(prefixes: readonly string[]): readonly string[] | undefined {
  // "HEAD" and short names match no full ref name; prefixes of "refs/" ("r", "refs") match every one.
  const below = prefixes.filter((prefix) => prefix.startsWith('refs/'));
  const any = prefixes.some((prefix) => 'refs/'.startsWith(prefix));
  if (prefixes.length === 0 || any) return undefined;
  if (below.length <= MAX_RANGES) return below;
  let shared = below[0]!;
  for (const prefix of below) while (!prefix.startsWith(shared)) shared = shared.slice(0, -1);
  return [shared];
}

/** Sorted, without prefixes that start with another one, because that one matches the same refs. */
function distinct(prefixes: readonly string[]): readonly string[] {
  const kept: string[] = [];
  for (const prefix of prefixes.toSorted()) {
    const last = kept.at(-1);
    if (last === undefined || !prefix.startsWith(last)) kept.push(prefix);
  }
  return kept;
}

/** Matches by binary search, because there may be many names and many prefixes. */
function prefixMatcher(sorted: readonly string[]): (name: string) => boolean {
  if (sorted.length === 0) return () => true;
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
