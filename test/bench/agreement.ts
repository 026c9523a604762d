import { mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import type { History } from '../../lib/git/history.ts';
import type { Oid } from '../../lib/git/oid.ts';
import { PackCache } from '../../lib/git/pack/pack-cache.ts';
import { PackStore } from '../../lib/git/pack/store.ts';
import type { RefDatabase } from '../../lib/git/ref-database.ts';
import { GitRepository } from '../../lib/git/repository.ts';
import { packsOf } from '../git/repository-files.ts';
import { agreeOnContent, merges } from './agree-content.ts';
import { agreeOnHistory } from './agree-history.ts';
import { git, lines } from './git.ts';
import type { Report } from './report.ts';
import type { Subject } from './subjects.ts';

/** One repository, and the queries to compare. */
export interface Sample {
  readonly directory: string;
  /** Directory for objects that git writes. */
  readonly written: string;
  readonly store: PackStore;
  readonly repository: GitRepository;
  readonly history: History;
  readonly head: Oid;
  /** Every commit of HEAD, newest first. */
  readonly commits: readonly Oid[];
  /** Files of HEAD whose names do not need quoting. */
  readonly files: readonly string[];
  /** Number of queries of expensive kinds. */
  readonly few: number;
  /** Number of queries of cheap kinds. */
  readonly many: number;
  /** This many items of a list, evenly spread. */
  pick<T>(list: readonly T[], count: number): T[];
  /** Counts one comparison of an operation. */
  compare(operation: string, same: boolean, of?: { readonly same: number; readonly all: number }): void;
}

/** Minimum share of results that must equal git's, for operations that may differ. */
const MIN_SHARES: Readonly<Record<string, number>> = { 'lines of blame': 0.99, 'patches of files': 0.995 };

/**
 * Runs the same queries on a real history with the Git library and with git, and counts equal results. All results must
 * be equal, except for the operations in {@link MIN_SHARES}.
 */
export function agreement(report: Report, subject: Subject, scratch: string): Promise<void> {
  return compared(report, subject, scratch, async (sample) => {
    await agreeOnHistory(sample);
    await agreeOnContent(sample);
  });
}

/** Repeats merges of the history, evenly spread. */
export function agreementOfMerges(
  report: Report,
  subject: Subject,
  scratch: string,
  count: number,
): Promise<void> {
  return compared(report, subject, scratch, (sample) => merges(sample, count));
}

async function compared(
  report: Report,
  { name, directory }: Subject,
  scratch: string,
  compare: (sample: Sample) => Promise<void>,
): Promise<void> {
  const objects = packsOf(directory);
  const store = new PackStore(objects, { cache: new PackCache({ blockBytes: 256 << 20 }) });
  // Refs are not needed: commits are named by id.
  const repository = new GitRepository({ objects, refs: undefined as unknown as RefDatabase, store });
  const head = git(directory, 'rev-parse', 'HEAD').toString().trim() as Oid;
  const generated = name === 'generated';
  const counts = new Map<string, { same: number; all: number }>();
  const sample: Sample = {
    directory,
    written: mkdtempSync(join(scratch, 'written-')),
    store,
    repository,
    history: repository.history,
    head,
    commits: lines(directory, 'rev-list', head) as Oid[],
    files: lines(directory, 'ls-tree', '-r', '--format=%(objecttype) %(path)', head)
      .filter((line) => /^blob [\w./-]+$/.test(line))
      .map((line) => line.slice(5)),
    few: generated ? 12 : 40,
    many: generated ? 60 : 400,
    pick: (list, count) => {
      const step = Math.max(1, list.length / count);
      return Array.from({ length: Math.min(count, list.length) }, (_, n) => list[Math.floor(n * step)]!);
    },
    compare: (operation, same, of = { same: same ? 1 : 0, all: 1 }) => {
      const count = counts.get(operation) ?? { same: 0, all: 0 };
      counts.set(operation, { same: count.same + of.same, all: count.all + of.all });
    },
  };
  await compare(sample);
  for (const [operation, { same, all }] of counts) {
    report.agreement({ subject: name, operation, same, all, least: MIN_SHARES[operation] ?? 1 });
  }
}
