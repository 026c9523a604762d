/**
 * What lists of merge requests and searches of them cost does not depend on how many there are: with a thousand in a group
 * of two projects, and with three times as many in forty. `GROWTH_MERGE_REQUESTS=1000000` makes a million in 2,000.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { MergeRequestRecord } from '../../lib/records/merge-requests.ts';
import type { ProjectRecord } from '../../lib/records/projects.ts';
import { awsClients } from '../../lib/store/clients.ts';
import { MERGE_REQUEST_KIND } from '../../lib/store/merge-requests/kind.ts';
import { mergeRequestKeys } from '../../lib/store/row-keys/merge-requests.ts';
import { refKey } from '../../lib/store/row-keys/repository.ts';
import { TableClient } from '../../lib/store/table/table-client.ts';
import { recordItem } from '../../lib/store/tracked/records.ts';
import { BulkTable } from '../harness/bulk-table.ts';
import { makersOf } from '../harness/makers.ts';
import { RoundTrips } from '../harness/round-trips.ts';
import { type Service, startService } from '../harness/service.ts';
import { storeOf } from '../harness/world.ts';
import { type Cost, costOf, shownCosts } from './page-cost.ts';
import { word } from './population.ts';

const SMALL = 1000;
const LARGE = Number(process.env['GROWTH_MERGE_REQUESTS'] ?? 3_000);
const PER_PROJECT = 500;
/** Of the projects beside the first two: so many that those of a page are in as many projects as it has merge requests. */
const SPREAD_OVER = LARGE < 100_000 ? 43 : PER_PROJECT;

type Person = Awaited<ReturnType<Service['user']>>;

interface Pattern {
  readonly path: () => string;
  readonly most: Pick<Cost, 'trips' | 'kilobytes'>;
  readonly rows?: number;
  /** The total among so many; up to 10,000 it is told. */
  readonly total?: (n: number) => number;
  readonly who?: () => Person;
}

let service: Service;
let trips: RoundTrips;
let owner: Person;
let me: Person;
let group: number;
/** The project that does not grow. */
let first: ProjectRecord;
let label: number;
let milestone: number;
let size = 0;
const projects: ProjectRecord[] = [];
const counts = new Map<number, Record<string, number>>();

/** What each has, by its number on the instance. */
const isMine = (n: number) => n % 5 === 2;
const isReviewed = (n: number) => n % 20 === 0;
const isAssigned = (n: number) => n % 25 === 0;
const isMerged = (n: number) => n % 2 === 1;
const isBug = (n: number) => n % 4 === 0;
const isPlanned = (n: number) => n % 5 === 0;
const countOf = (all: number, is: (n: number) => boolean) =>
  Array.from({ length: all }, (_, i) => i + 1).filter(is).length;

/** Round trips in which the caller, and the project or group, are found. */
const ASKED = 2;
/** Beside the keys that are counted for its total. */
const PAGE = { trips: ASKED + 4, kilobytes: 60 };
/** What several conditions lead to: ten times as much. */
const TWO = { trips: ASKED + 40, kilobytes: 600 };
/** What several rows of words lead to. */
const FOUND = { trips: ASKED + 38, kilobytes: LARGE < 100_000 ? 600 : 4000 };
/** Of a key that is counted for a total. */
const KEY_KILOBYTES = 0.15;
/** Of a project that is judged for the total of a list of many. */
const JUDGED_KILOBYTES = 1;

const inGroup = (query: string) => () => `/groups/${group}/merge_requests?per_page=20&${query}`;
const inProject = (query: string) => () => `/projects/${first.id}/merge_requests?per_page=20&${query}`;
/** Pages without a total. */
const KEYSET = 'pagination=keyset&order_by=created_at';
const found = (where: () => string, search: string) => () =>
  `${where()}/search?scope=merge_requests&per_page=20&search=${search}`;

const PATTERNS: Readonly<Record<string, Pattern>> = {
  'a project': { path: inProject(''), most: PAGE, total: () => PER_PROJECT },
  'a project, open ones': { path: inProject('state=opened'), most: PAGE },
  'a project, of a label': { path: inProject('labels=bug'), most: PAGE },
  'a project, of a milestone': { path: inProject('milestone=v1'), most: PAGE },
  'a project, of an author': { path: () => inProject(`author_id=${owner.id}`)(), most: PAGE },
  'a project, of an assignee': { path: () => inProject(`assignee_id=${me.id}`)(), most: PAGE },
  'a project, to be reviewed by one': { path: () => inProject(`reviewer_id=${me.id}`)(), most: PAGE },
  'a project, of a target branch': { path: inProject('target_branch=main'), most: PAGE },
  'a project, of a source branch': { path: inProject('source_branch=topic-2'), most: PAGE, rows: 1 },
  'a project, by numbers': { path: inProject('iids[]=1&iids[]=5'), most: PAGE, rows: 2 },
  'a project, by the last change': { path: inProject('order_by=updated_at'), most: PAGE },
  'a group': { path: inGroup(''), most: PAGE, total: (n) => n },
  'a group, merged ones': { path: inGroup('state=merged'), most: PAGE, total: (n) => countOf(n, isMerged) },
  'a group, of a label': { path: inGroup('labels=bug'), most: PAGE, total: (n) => countOf(n, isBug) },
  'a group, of a milestone': {
    path: inGroup('milestone=v1'),
    most: PAGE,
    total: (n) => countOf(n, isPlanned),
  },
  'a group, of an author': {
    path: () => inGroup(`author_id=${me.id}`)(),
    most: PAGE,
    total: (n) => countOf(n, isMine),
  },
  'a group, of an assignee': {
    path: () => inGroup(`assignee_id=${me.id}`)(),
    most: PAGE,
    total: (n) => countOf(n, isAssigned),
  },
  'a group, to be reviewed by one': {
    path: () => inGroup(`reviewer_id=${me.id}`)(),
    most: PAGE,
    total: (n) => countOf(n, isReviewed),
  },
  'a group, by the last change': { path: inGroup('order_by=updated_at'), most: PAGE, total: (n) => n },
  'a group, by keyset': { path: inGroup(KEYSET), most: PAGE },
  'a group, of a label, by keyset': { path: inGroup(`labels=bug&${KEYSET}`), most: PAGE },
  'a group, of a label and an author': { path: () => inGroup(`labels=bug&author_id=${me.id}`)(), most: TWO },
  "one's own": {
    path: () => '/merge_requests?per_page=20',
    most: PAGE,
    who: () => me,
    total: (n) => countOf(n, isMine),
  },
  'those to be reviewed by one': {
    path: () => '/merge_requests?per_page=20&scope=reviews_for_me',
    most: PAGE,
    who: () => me,
    total: (n) => countOf(n, isReviewed),
  },
  'the instance, by keyset': { path: () => `/merge_requests?per_page=20&scope=all&${KEYSET}`, most: PAGE },
  'the instance': { path: () => '/merge_requests?per_page=20&scope=all', most: PAGE },
  'a search in a group, a word that all have': {
    path: found(() => `/groups/${group}`, 'change'),
    most: FOUND,
  },
  'a search everywhere, a rare word': { path: found(() => '', word(61)), most: FOUND, rows: 1 },
};

const small = new Map<string, Cost>();
const large = new Map<string, Cost>();

beforeAll(async () => {
  service = await startService({ background: false });
  trips = RoundTrips.of(service.host);
  [owner, me] = [await service.user('owner'), await service.user('me')];
  const made = async (path: string, json: object) => {
    const { status, body } = await service.call('POST', path, { token: owner.token, json });
    if (status !== 201) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return body;
  };
  group = (await made('/groups', { name: 'top', path: 'top', visibility: 'public' })).id;
  await made(`/groups/${group}/members`, { user_id: me.id, access_level: 30 });
  label = (await made(`/groups/${group}/labels`, { name: 'bug', color: '#ff0000' })).id;
  milestone = (await made(`/groups/${group}/milestones`, { title: 'v1' })).id;
  const { id } = await made('/projects', { name: 'first', namespace_id: group, visibility: 'public' });
  first = (await storeOf().projects.get(id))!;
  projects.push(first);
  for (const [costs, all] of [
    [small, SMALL],
    [large, LARGE],
  ] as const) {
    const rows = await grow(all);
    process.stderr.write(`${rows} rows to ${all} merge requests in ${projects.length} projects\n`);
    for (const [name, { path, who = () => owner }] of Object.entries(PATTERNS))
      costs.set(name, await costOf(service, trips, path(), who().token));
  }
  process.stderr.write(`${shownCosts(small, large)}\n`);
}, 7_200_000);
afterAll(() => service.stop());

describe('the cost is the same at any size of', () => {
  test.each(Object.entries(PATTERNS))('%s', (name, { path, most, rows = 20, total }) => {
    for (const [costs, all] of [
      [small, SMALL],
      [large, LARGE],
    ] as const) {
      const cost = costs.get(name)!;
      expect(cost.rows, 'rows').toBe(rows);
      expect(cost.trips, 'round trips').toBeLessThanOrEqual(most.trips);
      const keys = cost.total === null ? 0 : Number(cost.total);
      const judged = cost.total === null || path().startsWith('/projects/') ? 0 : projectsOf(all);
      const counted = keys * KEY_KILOBYTES + judged * JUDGED_KILOBYTES;
      expect(cost.kilobytes, 'KB').toBeLessThanOrEqual(most.kilobytes + counted);
      const told = total?.(all);
      if (told !== undefined) expect(cost.total).toBe(told > 10_000 ? null : String(told));
    }
  });
});

const projectsOf = (all: number) => 2 + Math.ceil((all - SMALL) / SPREAD_OVER);

async function grow(all: number): Promise<number> {
  const { table } = storeOf();
  const client = new TableClient(awsClients().dynamodb);
  const bulk = new BulkTable(client, table.name, service.host.dynamo, /^(OUTBOX|GRAM)#/);
  const makers = makersOf(bulk);
  const parent = (await storeOf().groups.get(group))!;
  while (projects.length < projectsOf(all)) {
    const name = `work ${projects.length}`;
    const details = { ...first, importStatus: 'none' as const, name, path: name.replace(' ', '-') };
    projects.push(await makers.projects.create(details, { headBranch: 'main', now: at(0), parent }));
  }
  for (const { id, repositoryId } of projects)
    await bulk.put({ put: { ...refKey(repositoryId, MAIN), name: MAIN, oid: shaOf(id), table: '' } });
  const around = { rootId: group, labelTitles: new Map([[label, 'bug']]), milestoneTitle: 'v1' };
  for (let n = size + 1; n <= all; n++) {
    // The first project is full at once; the others fill together.
    const project = n <= PER_PROJECT ? first : projects[n <= SMALL ? 1 : 2 + (n % (projects.length - 2))]!;
    const count = counts.get(project.id) ?? { iid: 0 };
    counts.set(project.id, count);
    count['iid'] = count['iid']! + 1;
    const record = recordOf(n, count['iid'], project.id);
    count[record.state] = (count[record.state] ?? 0) + 1;
    for (const row of [recordItem(MERGE_REQUEST_KIND, record), ...MERGE_REQUEST_KIND.rows(record, around)])
      await bulk.put({ put: row });
  }
  for (const [projectId, { iid, ...states }] of counts) {
    await bulk.put({ put: { ...mergeRequestKeys.iid(projectId), n: iid } });
    await bulk.put({ put: { ...mergeRequestKeys.count(projectId), ...states } });
  }
  await bulk.flush();
  size = all;
  return bulk.written;
}

const MAIN = 'refs/heads/main';
const at = (n: number) => new Date(Date.UTC(2026, 0, 1) + n * 1000);
const snapshot = ({ id, username }: Person) => ({ id, username, name: username });
const shaOf = (n: number) => n.toString(16).padStart(40, '0');

function recordOf(n: number, iid: number, projectId: number): MergeRequestRecord {
  const createdAt = at(n).toISOString();
  return {
    id: 1_000_000 + n,
    iid,
    projectId,
    title: `Change ${word(n)}`,
    description: null,
    state: isMerged(n) ? 'merged' : 'opened',
    author: snapshot(isMine(n) ? me : owner),
    source: { projectId, branch: `topic-${iid}` },
    targetBranch: 'main',
    assigneeIds: isAssigned(n) ? [me.id] : [],
    reviewerIds: isReviewed(n) ? [me.id] : [],
    labelIds: isBug(n) ? [label] : [],
    milestoneId: isPlanned(n) ? milestone : null,
    discussionLocked: null,
    timeEstimate: 0,
    timeSpent: 0,
    tasks: { count: 0, completed: 0 },
    ...{ squash: false, forceRemoveSource: false, allowCollaboration: false, approvalsBeforeMerge: null },
    approvals: [],
    diff: {
      ...{ id: 1_000_000 + n, number: 1, headSha: shaOf(2 * n), baseSha: shaOf(2 * n + 1) },
      ...{ startSha: shaOf(2 * n + 1), fileCount: 1, commitShas: [shaOf(2 * n)], createdAt },
    },
    ...{ autoMerge: null, mergeError: null, rebase: null, closedAt: null, closedById: null },
    mergedAt: isMerged(n) ? createdAt : null,
    mergedById: isMerged(n) ? owner.id : null,
    mergeCommitSha: isMerged(n) ? shaOf(3_000_000 + n) : null,
    squashCommitSha: null,
    createdAt,
    updatedAt: createdAt,
    ...{ verdict: null, userNotesCount: 0, upvotes: 0, downvotes: 0, unresolvedCount: 0, version: 1 },
  };
}
