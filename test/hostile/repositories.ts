import { commitBytes, named, PackBuilder, type Packed, type TreeItem } from './pack-builder.ts';

/** A repository made to be expensive, and the requests that should meet it. */
export interface Hostile {
  readonly name: string;
  readonly pack: Buffer;
  readonly refs: Readonly<Record<string, string>>;
  /** A file, or a directory, that requests ask for. */
  readonly path: string;
  /** Whether the push is refused, with this in its answer; else it must be accepted. */
  readonly refused?: RegExp;
}

interface Generator {
  readonly name: string;
  readonly make: () => Hostile;
}

const MiB = 2 ** 20;
const PERSON = 'A <a@example.com>';

function build(
  name: string,
  path: string,
  fill: (pack: PackBuilder) => Readonly<Record<string, Packed>>,
  refused?: RegExp,
): Generator {
  const make = () => {
    const pack = new PackBuilder();
    const refs = Object.entries(fill(pack)).map(([ref, of]) => [ref, of.oid]);
    return { name, path, pack: pack.pack, refs: Object.fromEntries(refs), ...(refused ? { refused } : {}) };
  };
  return { name, make };
}

const main = (commit: Packed) => ({ 'refs/heads/main': commit });
const one = (pack: PackBuilder, name: string, data: string | Uint8Array) =>
  pack.tree([{ name, of: pack.blob(data) }]);
const items = (count: number, of: Packed, prefix = 'e'): TreeItem[] =>
  Array.from({ length: count }, (_, i) => ({ name: `${prefix}${String(i).padStart(7, '0')}`, of }));

/** A tree of `width` entries per level, which are all the same: `width ** levels` files. */
function bomb(pack: PackBuilder, leaf: Packed, width: number, levels: number): Packed {
  let of = leaf;
  for (let level = 0; level < levels; level++) of = pack.tree(items(width, of));
  return of;
}

/** Commits with messages of 15 MB, of which only the first is more than a few bytes in the pack. */
function longMessages(pack: PackBuilder, count: number, bytes: number): Packed {
  const tree = one(pack, 'f', 'x\n');
  const long = 'word '.repeat(bytes / 5);
  const root = pack.commit(tree, [], long);
  const rootHead = commitBytes(tree, [], '').length;
  let parent = root;
  for (let i = 1; i < count; i++) {
    const head = commitBytes(tree, [parent], '', `${PERSON} ${1_700_000_000 + i} +0000`);
    const result = named('commit', Buffer.concat([head, Buffer.from(long)]));
    parent = pack.delta(root, [head, [rootHead, long.length]], result);
  }
  return parent;
}

/** Deltas that each make 120 MB of one of 1 MB. */
function deltaBomb(pack: PackBuilder, count: number): Packed {
  const base = pack.blob(new Uint8Array(MiB));
  const whole = Array.from({ length: 120 }, (): [number, number] => [0, MiB]);
  const zeros = Buffer.alloc(120 * MiB);
  const large = pack.delta(base, whole, named('blob', zeros));
  for (let i = 0; i < count; i++)
    pack.delta(large, [[0, large.size - i - 1]], { oid: '0'.repeat(40), size: large.size - i - 1 });
  return large;
}

/** Pseudo-random numbers below `n`. */
function numbers(seed: number): (n: number) => number {
  let state = seed;
  return (n) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

const randomLines = (seed: number, count: number, kinds: number) => {
  const random = numbers(seed);
  return Array.from({ length: count }, () => `${random(kinds).toString(36)}\n`).join('');
};

/** A change of files in many directories, and of as many in one, where CODEOWNERS says who has to approve it. */
const owners = (name: string, text: string): Generator =>
  build(name, 'CODEOWNERS', (pack) => {
    const deep = (of: Packed) => {
      let tree = pack.tree(items(20, of, 'a'.repeat(100)));
      for (let i = 0; i < 500; i++) tree = pack.tree([{ name: 'd', of: tree }]);
      return tree;
    };
    const file = pack.blob(text);
    const commit = (of: Packed, parents: readonly Packed[] = []) =>
      pack.commit(
        pack.tree([
          { name: 'CODEOWNERS', of: file },
          { name: 'd', of: deep(of) },
          { name: 'f', of: pack.tree(items(500, of)) },
        ]),
        parents,
      );
    return main(commit(pack.blob('b\n'), [commit(pack.blob('a\n'))]));
  });

const names = (seed: number, count: number): string =>
  Array.from({ length: count }, (_, i) => `@u${seed}x${i}`).join(' ');

const ATTRIBUTES = Array.from({ length: 600 }, (_, i) => `**/a*b*c*d*/**/*x${i}*y*z export-ignore\n`).join(
  '',
);

/** What every push looks like: the service loads its functions for it, and the others are measured without that. */
export const ORDINARY: Generator = build('ordinary', 'f', (pack) => {
  const first = pack.commit(one(pack, 'f', 'x\n'));
  return main(pack.commit(one(pack, 'f', 'y\n'), [first]));
});

export const HOSTILE: readonly Generator[] = [
  build('long-messages', 'f', (pack) => main(longMessages(pack, 60, 4_000_000))),
  build(
    'huge-messages',
    'f',
    (pack) => main(longMessages(pack, 3, 15_000_000)),
    /commit of \d+ bytes; the limit is/,
  ),
  build('attribute-patterns', 'd', (pack) => {
    const fan = bomb(pack, pack.blob('x\n'), 45, 3);
    return main(
      pack.commit(
        pack.tree([
          { name: '.gitattributes', of: pack.blob(ATTRIBUTES) },
          { name: 'd', of: fan },
        ]),
      ),
    );
  }),
  build(
    'submodules',
    '.gitmodules',
    (pack) => {
      const settings = 'a=b\n'.repeat(2 * MiB);
      const text = `[submodule "s"]\n${settings}url = ${'x\\\n'.repeat(2 * MiB)}`;
      return main(pack.commit(one(pack, '.gitmodules', text)));
    },
    /gitmodulesLarge/,
  ),
  build(
    'delta-bomb',
    'f',
    (pack) => {
      deltaBomb(pack, 150);
      return main(pack.commit(one(pack, 'f', 'x')));
    },
    /inflates to/,
  ),
  build('newlines', 'f', (pack) => {
    const first = pack.commit(one(pack, 'f', Buffer.alloc(30 * MiB, '\n')));
    return main(pack.commit(one(pack, 'f', Buffer.alloc(29 * MiB, '\n')), [first]));
  }),
  build('tree-bomb', 'e0000001', (pack) => {
    const first = pack.commit(one(pack, 'f', 'x'));
    const bombed = pack.commit(bomb(pack, pack.blob('x\n'), 10, 7), [first]);
    return { ...main(bombed), 'refs/heads/small': first };
  }),
  build('small-tree-bomb', 'e0000001', (pack) => main(pack.commit(bomb(pack, pack.blob('x\n'), 60, 3)))),
  build('directory-bomb', 'e0000001', (pack) => {
    const first = pack.commit(one(pack, 'f', 'x'));
    return main(pack.commit(bomb(pack, pack.tree([]), 10, 9), [first]));
  }),
  build('deep-tree', 'd/d/d', (pack) => {
    let tree = one(pack, 'f', 'x\n');
    for (let i = 0; i < 5000; i++) tree = pack.tree([{ name: 'd', of: tree }]);
    return main(pack.commit(tree));
  }),
  build('wide-tree', 'e0000001', (pack) => {
    const [a, b] = [pack.blob('a\n'), pack.blob('b\n')];
    const first = pack.commit(pack.tree(items(200_000, a)));
    return main(pack.commit(pack.tree([...items(199_999, a), { name: 'z', of: b }]), [first]));
  }),
  build('wide-merge', 'f', (pack) => {
    const root = pack.commit(one(pack, 'f', 'x\n'));
    return main(
      pack.commit(
        one(pack, 'f', 'y\n'),
        Array.from({ length: 80_000 }, () => root),
      ),
    );
  }),
  build('wide-cherry-pick', 'e0000001', (pack) => {
    // Each commit changes 90,000 files, the last one back again.
    const [a, b] = [pack.blob('a\n'), pack.blob('b\n')];
    const first = pack.commit(pack.tree(items(90_000, a)));
    const second = pack.commit(pack.tree([...items(90_000, b), { name: 'z', of: a }]), [first]);
    return main(pack.commit(pack.tree([...items(90_000, a), { name: 'z', of: b }]), [second]));
  }),
  build('deep-changes', 'e/f', (pack) => {
    // 40 files below 2,000 directories, under each of 60 names: megabytes of paths.
    const deep = (of: Packed) => {
      let tree = pack.tree(items(40, of));
      for (let i = 0; i < 2000; i++) tree = pack.tree([{ name: 'd', of: tree }]);
      return pack.tree(items(60, tree));
    };
    const first = pack.commit(deep(pack.blob('a\n')));
    return main(pack.commit(deep(pack.blob('b\n')), [first]));
  }),
  build('deeper-changes', 'e/f', (pack) => {
    // Paths of 10,000 bytes, of 60,000 files.
    const deep = (of: Packed) => {
      let tree = pack.tree(items(1000, of));
      for (let i = 0; i < 5000; i++) tree = pack.tree([{ name: 'd', of: tree }]);
      return pack.tree(items(60, tree));
    };
    const first = pack.commit(deep(pack.blob('a\n')));
    return main(pack.commit(deep(pack.blob('b\n')), [first]));
  }),
  build('criss-cross', 'f', (pack) => {
    // Each pair of commits merges both of the pair before: two merge bases at every level.
    const commit = (text: string, parents: readonly Packed[]) =>
      pack.commit(one(pack, 'f', text), parents, text);
    const root = commit('root\n', []);
    let [left, right] = [commit('l\n', [root]), commit('r\n', [root])];
    for (let i = 0; i < 300; i++)
      [left, right] = [commit(`l${i}\n`, [left, right]), commit(`r${i}\n`, [right, left])];
    return { ...main(left), 'refs/heads/other': right };
  }),
  build('tag-chain', 'f', (pack) => {
    let of = pack.commit(one(pack, 'f', 'x\n'));
    const commit = of;
    for (let i = 0; i < 5000; i++)
      of = pack.add(
        'tag',
        Buffer.from(`object ${of.oid}\ntype ${of.type}\ntag t\ntagger ${PERSON} 1700000000 +0000\n\nm\n`),
      );
    return { ...main(commit), 'refs/tags/t': of };
  }),
  build('long-line', 'f', (pack) => {
    const first = pack.commit(one(pack, 'f', Buffer.alloc(15 * MiB, 'a')));
    return main(pack.commit(one(pack, 'f', Buffer.alloc(15 * MiB + 1, 'a')), [first]));
  }),
  build('nul-bytes', 'f', (pack) => {
    const first = pack.commit(one(pack, 'f', Buffer.alloc(31 * MiB)));
    return main(pack.commit(one(pack, 'f', Buffer.alloc(31 * MiB - 1)), [first]));
  }),
  build('large-blob', 'f.js', (pack) =>
    main(pack.commit(one(pack, 'f.js', Buffer.alloc(100 * MiB, 'x=1;\n')))),
  ),
  build('hard-diff', 'f', (pack) => {
    const first = pack.commit(one(pack, 'f', randomLines(1, 120_000, 1000)));
    return main(pack.commit(one(pack, 'f', randomLines(2, 120_000, 1000)), [first]));
  }),
  build('many-renames', 'e0000001', (pack) => {
    const files = (seed: number, prefix: string) =>
      Array.from({ length: 900 }, (_, i) => ({
        name: `${prefix}${String(i).padStart(7, '0')}`,
        of: pack.blob(randomLines(seed + (i % 7), 60, 12) + i),
      }));
    const first = pack.commit(pack.tree(files(1, 'e')));
    return main(pack.commit(pack.tree(files(3, 'n')), [first]));
  }),
  build('long-names', 'f', (pack) => {
    const tree = one(pack, 'f', 'x\n');
    const person = `${'n'.repeat(MiB / 2)} <${'m'.repeat(MiB / 2)}@example.com>`;
    const first = pack.commit(tree, [], 'm\n', `${person} 1700000000 +0000`);
    return main(pack.commit(one(pack, 'f', 'y\n'), [first], 'm\n', `${person} 1700000001 +0000`));
  }),
  build('trailers', 'f', (pack) => {
    const tree = one(pack, 'f', 'x\n');
    const message = `t\n\n${Array.from({ length: 100_000 }, (_, i) => `Changelog: added\nKey-${i}: v\n`).join('')}`;
    return main(pack.commit(tree, [pack.commit(tree)], message));
  }),
  build('many-refs-in-one', 'f', (pack) => {
    const commit = pack.commit(one(pack, 'f', 'x\n'), [], `${'subject '.repeat(MiB / 4)}\n`);
    return Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`refs/heads/b${i}`, commit]));
  }),
  owners(
    'owners-slow',
    Array.from({ length: 9_000 }, (_, i) => `/d*d/**/d*a*a*a*a*a*a*a*b${i} @root\n`).join(''),
  ),
  owners(
    'owners-anywhere',
    Array.from({ length: 9_000 }, (_, i) => `**/d/**/d/**/d/**/${i}*[[:alpha:]]? @root\n`).join(''),
  ),
  owners('owners-long-pattern', `${'*a'.repeat(250)} @root\n`.repeat(900)),
  owners(
    'owners-sections',
    Array.from({ length: 499 }, (_, i) => `[s${i}][9]\n* ${names(i, 100)}\n`).join(''),
  ),
  owners(
    'owners-many-sections',
    Array.from({ length: 40 }, (_, i) => `[s${i}]\n* ${names(i, 100)}\n`).join(''),
  ),
  owners('owners-long-lines', `* ${names(0, 2000)}\n`.repeat(25)),
  owners('owners-headings', `${'[a][1]'.repeat(2000)}\n`.repeat(40)),
  owners('owners-spaces', `*${' '.repeat(16_000)}@root\n`.repeat(30)),
  owners('owners-of-groups', '* @owners-a @owners-b @owners-a/below\n'.repeat(10_000)),
  owners('owners-too-many', '* @root\n'.repeat(10_001)),
];
