import type { Oid } from '../../lib/git/oid.ts';
import type { Ref } from '../../lib/git/ports.ts';
import type { RefDatabase } from '../../lib/git/ref-database.ts';
import type { RefName } from '../../lib/git/refname.ts';
import { git, lines } from './git.ts';

/** The refs of a git repository, as far as builders need them. */
export function knownRefs(directory: string): RefDatabase {
  const format = '--format=%(refname) %(objectname) %(*objectname)';
  const all = lines(directory, 'for-each-ref', format).map((line): Ref => {
    const [name, oid, peeled] = line.split(' ') as [RefName, Oid, Oid | undefined];
    return { name, oid, ...(peeled ? { peeled } : {}) };
  });
  const head = git(directory, 'symbolic-ref', 'HEAD').toString().trim() as RefName;
  const refs: Pick<RefDatabase, 'all' | 'view' | 'get' | 'head'> = {
    all: async () => ({ head, refs: all }),
    view: async () => ({
      head,
      async *refs(prefix = '', after = '') {
        yield all.filter(({ name }) => name.startsWith(prefix) && name > after);
      },
    }),
    get: async (names) =>
      new Map(all.filter(({ name }) => names.includes(name)).map((ref) => [ref.name, ref])),
    head: async () => head,
  };
  return refs as RefDatabase;
}
