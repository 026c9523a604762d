import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ZERO_OID } from '../../lib/git/oid.ts';
import type { PackDescription, Ref } from '../../lib/git/ports.ts';
import { spacePrefix } from '../../lib/git/refname.ts';
import type { MergeRequestRecord } from '../../lib/records/merge-requests.ts';
import { Missing } from '../../lib/store/errors.ts';
import { GitObjects } from '../../lib/store/repository/pack-objects.ts';
import { pinnedIn } from '../../lib/store/repository/pinned-commits.ts';
import type { RowKindName } from '../../lib/store/row-keys/all.ts';
import { attemptApart } from '../deploy/attempt-apart.ts';
import type { Data } from './data.ts';
import type { ExpectedState } from './expected-state.ts';

/** Kinds of rows that this reads. */
export const GIT_KINDS = ['ref', 'head', 'pack', 'pinned-commit'] as const satisfies readonly RowKindName[];

/** What is wrong with the files of the default branch: their object ids by path. */
export type FileProblems = (files: ReadonlyMap<string, string>) => Iterable<string>;

export interface CheckedRepository {
  readonly repositoryId: string;
  /** Of a project whose code it is. */
  readonly id?: number;
  /** Of a wiki or a snippet. */
  readonly fileProblems?: FileProblems;
}

/** Reads a repository as the service does, writes it down as git keeps it, and lets git judge. */
export async function checkRepository(
  data: Data,
  project: CheckedRepository,
  expectedState: ExpectedState,
  { mergeRequests, settled }: Proposals,
): Promise<string[]> {
  const problems: string[] = [];
  const { id = 0 } = project;
  const name = project.id === undefined ? project.repositoryId : `project ${id}`;
  const say = (problem: string) => problems.push(`${name}: ${problem}`);
  const refs = data.store.repositories.open(project.repositoryId);
  const objects = new GitObjects(data.store.blobs, refs, project.repositoryId);
  const snapshot = await refs.all();
  const packs = await refs.catalogue();
  for (const space of ['heads', 'tags'] as const) {
    const { total } = await refs.page({ space, limit: 1 });
    const listed = snapshot.refs.filter(
      ({ name, committed }) =>
        name.startsWith(spacePrefix(space)) && (space === 'heads' || committed !== null),
    );
    if (total !== listed.length) say(`${listed.length} refs/${space}, of which ${total} are counted`);
  }

  const folder = mkdtempSync(join(tmpdir(), 'lemnos-fsck-'));
  try {
    // As `git init --bare` leaves it: one process less for each repository.
    for (const name of ['objects', 'refs']) mkdirSync(join(folder, name));
    for (const pack of packs) {
      // What replaced a pack must do without it.
      const target = pack.state === 'active' ? folder : `${folder}/superseded`;
      const problem = await writePack(objects, pack, target).catch((error: Error) => {
        // Its bytes go before its row.
        return pack.state === 'superseded' && error instanceof Missing ? undefined : error.message;
      });
      if (problem !== undefined) say(`pack ${pack.id}: ${problem}`);
    }
    writeFileSync(join(folder, 'HEAD'), `ref: ${snapshot.head}\n`);
    writeFileSync(join(folder, 'packed-refs'), packedRefs(snapshot.refs));
    const fsck = await attemptApart('git', ['-C', folder, 'fsck', '--full', '--strict', '--no-dangling'], {
      env: GIT,
    });
    if (fsck.code !== 0)
      say(`git fsck: ${(fsck.stdout + fsck.stderr).trim().split('\n').slice(0, 5).join('; ')}`);

    const pinned: string[] = [];
    for await (const oid of pinnedIn(data.store.table, project.repositoryId)) pinned.push(`${oid}^{commit}`);
    if (pinned.length > 0) {
      // One process for all: it ends with an error at an object that is absent or no commit.
      const found = await attemptApart('git', ['-C', folder, 'rev-list', '--no-walk', ...pinned], {
        env: GIT,
      });
      if (found.code !== 0) say(`a pinned commit is not there: ${found.stderr.split('\n', 1)[0]}`);
    }

    const present = new Map<string, string>(snapshot.refs.map(({ name, oid }) => [name, oid]));
    for (const [name, { possible }] of expectedState.refs.get(id) ?? []) {
      const value = present.get(name) ?? ZERO_OID;
      if (!possible.has(value)) say(`${name} is at ${value} and not at ${[...possible].join(' or ')}`);
    }
    for (const names of expectedState.together.get(id) ?? []) {
      const values = new Set(names.map((name) => present.get(name) ?? ZERO_OID));
      if (values.size > 1)
        say(`${names[0]} and ${names.length - 1} more were moved together and stand apart`);
    }
    const histories = new Map<string, Promise<ReadonlySet<string>>>();
    const historyOf = (branch: string): Promise<ReadonlySet<string>> => {
      const known = histories.get(branch);
      if (known !== undefined) return known;
      const listed = attemptApart('git', ['-C', folder, 'rev-list', `refs/heads/${branch}`], { env: GIT });
      const history = listed.then(({ stdout }) => new Set(stdout.split('\n')));
      histories.set(branch, history);
      return history;
    };
    const commits = Map.groupBy(expectedState.commits.get(id) ?? [], ([, branch]) => branch);
    for (const [branch, acknowledged] of commits) {
      const held = await historyOf(branch);
      for (const [commit] of acknowledged) {
        if (!held.has(commit)) say(`commit ${commit} is not in the history of ${branch}`);
      }
    }
    const filesOf = async (name: string): Promise<ReadonlyMap<string, string>> => {
      const { stdout } = await attemptApart('git', ['-C', folder, 'ls-tree', '-r', '-z', name], { env: GIT });
      const entries = stdout.matchAll(/\d+ \w+ (\w+)\t([^\0]+)\0/g);
      return new Map(Array.from(entries, ([, oid, path]) => [path!, oid!] as const));
    };
    if (project.fileProblems !== undefined)
      for (const problem of project.fileProblems(await filesOf(snapshot.head))) say(problem);
    const files = Map.groupBy(expectedState.files.get(id) ?? [], (file) => file.slice(0, file.indexOf(':')));
    for (const [branch, acknowledged] of files) {
      const held = await filesOf(`refs/heads/${branch}`);
      for (const file of acknowledged) {
        if (!held.has(file.slice(branch.length + 1))) say(`${file} was committed and is not there`);
      }
    }
    for (const mergeRequest of mergeRequests) {
      const held = await historyOf(mergeRequest.targetBranch);
      for (const problem of proposalProblems(mergeRequest, present, held, settled))
        say(`merge request ${mergeRequest.iid} ${problem}`);
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  return problems;
}

/** The merge requests of a project, and whether the workers have had the time to bring them in line with pushes. */
export interface Proposals {
  readonly mergeRequests: readonly MergeRequestRecord[];
  readonly settled: boolean;
}

/** What refs say of a merge request is what its record says: a merge is both or neither. */
function* proposalProblems(
  { iid, projectId, state, source, targetBranch, diff, mergeCommitSha, squashCommitSha }: MergeRequestRecord,
  refs: ReadonlyMap<string, string>,
  target: ReadonlySet<string>,
  settled: boolean,
): Iterable<string> {
  const head = refs.get(`refs/merge-requests/${iid}/head`);
  if (head !== diff.headSha) yield `proposes ${diff.headSha}, and its ref is at ${head}`;
  const isThere = refs.has(`refs/heads/${targetBranch}`);
  const merged = mergeCommitSha ?? squashCommitSha ?? diff.headSha;
  if (state === 'merged' && isThere && !target.has(merged)) yield `is merged, and not in ${targetBranch}`;
  if (state === 'opened' && target.has(diff.headSha)) yield `is open, and in ${targetBranch}`;
  const branch = refs.get(`refs/heads/${source.branch}`);
  if (
    settled &&
    state === 'opened' &&
    source.projectId === projectId &&
    branch !== undefined &&
    branch !== diff.headSha
  )
    yield `proposes ${diff.headSha}, and its branch is at ${branch}`;
}

/** Nobody's configuration. */
const GIT = { PATH: process.env['PATH'], HOME: '/nonexistent', GIT_CONFIG_NOSYSTEM: '1' };

/** @returns what is wrong with the pack as it is stored */
async function writePack(
  objects: GitObjects,
  pack: PackDescription,
  folder: string,
): Promise<string | undefined> {
  const [bytes, index] = await Promise.all([
    objects.open(pack, 'pack').read(0, pack.packSize),
    objects.open(pack, 'index').read(0, pack.indexSize),
  ]);
  if (bytes.length !== pack.packSize) return `${bytes.length} bytes and not ${pack.packSize}`;
  if (index.length !== pack.indexSize) return `its index has ${index.length} bytes and not ${pack.indexSize}`;
  const checksum = trailer(bytes);
  if (checksum !== sha1(bytes.subarray(0, -20))) return 'its checksum is wrong';
  if (trailer(index) !== sha1(index.subarray(0, -20))) return 'the checksum of its index is wrong';
  if (trailer(index.subarray(0, -20)) !== checksum) return 'its index is of another pack';
  const count = Buffer.from(bytes).readUInt32BE(8);
  if (count !== pack.objectCount) return `${count} objects and not ${pack.objectCount}`;
  const path = join(folder, 'objects/pack');
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, `pack-${checksum}.pack`), bytes);
  writeFileSync(join(path, `pack-${checksum}.idx`), index);
  return undefined;
}

const sha1 = (bytes: Uint8Array) => createHash('sha1').update(bytes).digest('hex');
const trailer = (bytes: Uint8Array) => Buffer.from(bytes.subarray(-20)).toString('hex');

function packedRefs(refs: readonly Ref[]): string {
  const lines = refs.map(({ name, oid, peeled }) =>
    peeled === undefined ? `${oid} ${name}\n` : `${oid} ${name}\n^${peeled}\n`,
  );
  return `# pack-refs with: peeled fully-peeled sorted \n${lines.join('')}`;
}
