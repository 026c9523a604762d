import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ChangedNames, nameBit } from '../../lib/git/history/changed-names.ts';
import type { CommitNode } from '../../lib/git/history/commit-node.ts';
import type { SyncObjects } from '../../lib/git/objects.ts';
import type { Oid } from '../../lib/git/oid.ts';
import type { RawPath } from '../../lib/git/tree/path.ts';

const NAMES = ['.gitmodules', 'a', 'a-b', 'a.b', 'ab', 'b', 'lib', 'lib.ts', 'sub', 'z'];
const MODES = ['100644', '100755', '120000', '160000', '40000'];

/** A tree in git's order: folders sort as if their names ended with a slash. */
const tree = fc
  .uniqueArray(
    fc.record({ name: fc.constantFrom(...NAMES), mode: fc.constantFrom(...MODES), content: fc.nat(3) }),
    { selector: (entry) => entry.name },
  )
  .map((entries) => {
    const key = ({ name, mode }: { name: string; mode: string }) => (mode === '40000' ? `${name}/` : name);
    return entries.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
  });

type Entries = { name: string; mode: string; content: number }[];

const encoded = (entries: Entries) =>
  Buffer.concat(
    entries.flatMap(({ name, mode, content }) => [
      Buffer.from(`${mode} ${name}\0`),
      Buffer.alloc(20, content + 1),
    ]),
  );

test('has no false negatives, whatever was compared before', () => {
  fc.assert(
    fc.property(fc.array(tree, { minLength: 2, maxLength: 6 }), (trees) => {
      const data = trees.map(encoded);
      const objects = {
        read: (oid: Oid) => ({ type: 'tree', data: data[Number.parseInt(oid, 16)]! }),
      } as unknown as SyncObjects;
      const nodes = trees.map((_, index) => ({
        index,
        tree: index.toString(16).padStart(40, '0') as Oid,
      })) as unknown as CommitNode[];
      const changed = new ChangedNames();
      for (let i = 0; i + 1 < trees.length; i++) {
        const at = (entries: Entries, name: string) =>
          JSON.stringify(entries.find((entry) => entry.name === name));
        for (const name of NAMES) {
          if (at(trees[i]!, name) === at(trees[i + 1]!, name)) continue;
          const bit = nameBit(name as RawPath);
          expect(changed.mayDiffer(objects, nodes[i]!, 0, nodes[i + 1]!, bit), name).toBe(true);
          // The second parent has its own filter, the third none.
          const second = nodes[(i + 2) % nodes.length]!;
          if (at(trees[i]!, name) !== at(trees[(i + 2) % nodes.length]!, name)) {
            expect(changed.mayDiffer(objects, nodes[i]!, 1, second, bit), name).toBe(true);
            expect(changed.mayDiffer(objects, nodes[i]!, 2, second, bit), name).toBe(true);
          }
        }
      }
    }),
    { numRuns: 500 },
  );
});

test('an unchanged name is distinguished from a changed one', () => {
  const before: Entries = [
    { name: 'a', mode: '100644', content: 1 },
    { name: 'lib', mode: '40000', content: 1 },
  ];
  const data = [
    encoded(before.map((entry) => (entry.name === 'a' ? { ...entry, content: 2 } : entry))),
    encoded(before),
  ];
  const objects = {
    read: (oid: Oid) => ({ type: 'tree', data: data[Number.parseInt(oid, 16)]! }),
  } as unknown as SyncObjects;
  const [node, parent] = [0, 1].map((index) => ({
    index,
    tree: index.toString(16).padStart(40, '0'),
  })) as unknown as [CommitNode, CommitNode];
  const changed = new ChangedNames();
  expect(changed.mayDiffer(objects, node, 0, parent, nameBit('a' as RawPath))).toBe(true);
  expect(changed.mayDiffer(objects, node, 0, parent, nameBit('lib' as RawPath))).toBe(false);
});
