import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Remover } from '../../lib/store/deletion/remover.ts';
import { removers } from '../../lib/store/deletion/removers.ts';
import { allRowKinds } from '../../lib/store/row-keys/all.ts';
import type { RowKind, RowOwner } from '../../lib/store/row-keys/row-kind.ts';
import { USER_ROWS } from '../../lib/store/row-keys/users.ts';
import type { Store } from '../../lib/store/store.ts';
import { GIT_KINDS } from '../crash/check-git.ts';
import { invariants, settledInvariants } from '../crash/check-rows.ts';
import { OBJECT_KINDS } from '../crash/checker.ts';

const root = join(import.meta.dirname, '../..');
const kinds: readonly RowKind[] = allRowKinds;
const names = kinds.map(({ name }) => name);

interface Rows {
  readonly rows: readonly string[];
  readonly rowsWithRecord?: readonly string[];
}

/** Kinds whose rows are deleted with one of these, in the transaction of its record or behind it. */
function removedWith(owner: RowOwner): ReadonlySet<string> {
  const removalsOf = (remover: Remover<Store>): readonly (Rows | undefined)[] =>
    ({
      project: [remover.ofProject],
      group: [remover.ofGroup],
      repository: [remover.ofRepository],
      user: [remover.ofUser, remover.ofUserRows],
      instance: [],
    })[owner];
  const removals = removers.flatMap((remover) => removalsOf(remover));
  return new Set(removals.flatMap((each) => [...(each?.rows ?? []), ...(each?.rowsWithRecord ?? [])]));
}

describe('kinds of rows', () => {
  test('have unique names', () => {
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(50);
  });

  test('cover every function that builds a key', () => {
    const folder = join(root, 'lib/store/row-keys');
    // What `tracked.ts` builds is declared by the kinds that it builds keys for.
    const files = readdirSync(folder).filter((file) => file !== 'tracked.ts');
    const built = files.flatMap((file) => {
      const blocks = readFileSync(join(folder, file), 'utf8').split(/^(?=export )/m);
      return blocks.flatMap((block) => {
        const [, name] = /^export (?:const|function) (\w+)/.exec(block) ?? [];
        return name !== undefined && /\): Key (=>|\{)/.test(block) ? [`${file}: ${name}`] : [];
      });
    });
    expect(built.length).toBeGreaterThan(50);
    const declared = new Set(kinds.flatMap(({ keys }) => Object.keys(keys)));
    expect(built.filter((each) => !declared.has(each.split(' ')[1]!))).toEqual([]);
  });

  test('are deleted with their owner, expire, or declare why they stay', () => {
    const owners = ['project', 'group', 'user', 'repository'] as const;
    const left = owners.flatMap((owner) => {
      const removed = removedWith(owner);
      return kinds
        .filter(({ of, expires, stays }) => of.includes(owner) && expires !== true && stays === undefined)
        .flatMap(({ name }) => (removed.has(name) ? [] : [`${name} of a ${owner}`]));
    });
    expect(left).toEqual([]);
  });

  test('are deleted only by removers of their owners', () => {
    const owners = ['project', 'group', 'user', 'repository'] as const;
    const wrong = owners.flatMap((owner) =>
      [...removedWith(owner)].flatMap((name) =>
        kinds.find((kind) => kind.name === name)?.of.includes(owner) ? [] : [`${name} of a ${owner}`],
      ),
    );
    expect(wrong).toEqual([]);
  });

  test('in the index byUser have one remover each', () => {
    const handled = removers.flatMap(({ ofUserRows }) => Object.keys(ofUserRows?.byRow ?? {}));
    expect(handled.sort()).toEqual([...USER_ROWS].sort());
  });

  test('are checked by the consistency checker', () => {
    const checks = Object.values({ ...invariants, ...settledInvariants });
    const checked = new Set<string>([
      ...checks.flatMap((check) => check.kinds),
      ...GIT_KINDS,
      ...OBJECT_KINDS,
    ]);
    expect(names.filter((name) => !checked.has(name))).toEqual([]);
  });

  test('are exactly those listed in the manual', () => {
    const manual = readFileSync(join(root, 'docs/access-patterns.md'), 'utf8');
    const items = manual.split('## Items')[1]!.split('\n## ')[0]!;
    const told = items
      .split('\n')
      .filter((line) => line.startsWith('|'))
      .slice(2)
      .flatMap((line) => [...line.split('|')[3]!.matchAll(/`([a-z-]+)`/g)].map((match) => match[1]!));
    expect([...new Set(told)].sort()).toEqual(names.toSorted());
  });
});
