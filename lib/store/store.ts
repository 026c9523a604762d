/** The domain's access to storage, queues and AWS services; created once per process. */
import type { IssueClass, IssueRecord } from '../records/issues.ts';
import type { MergeRequestRecord, MergeRequestState } from '../records/merge-requests.ts';
import { AccessRequests } from './access-requests/access-requests.ts';
import { Alerts } from './alerts/alerts.ts';
import { AlertCauses } from './alerts/causes.ts';
import { AlertIntegrations } from './alerts/integrations.ts';
import { ApprovalRuleSets } from './approvals/rules.ts';
import { Artifacts } from './artifacts/artifacts.ts';
import { AuditEvents } from './audit-events/audit-events.ts';
import { Avatars } from './avatars/avatars.ts';
import { Awards } from './award-emoji/award-emoji.ts';
import { BillableLists } from './billable-members/lists.ts';
import { Blobs } from './blobs/blobs.ts';
import { Downloads } from './blobs/downloads.ts';
import { KeptPacks } from './blobs/kept-packs.ts';
import { ObjectCopies } from './blobs/object-copies.ts';
import { Staging } from './blobs/staging.ts';
import { CiVariables } from './ci-variables/ci-variables.ts';
import { type AwsClients, awsClients } from './clients.ts';
import { CustomAttributes } from './custom-attributes/custom-attributes.ts';
import { Confirmations, Emails, MAX_EMAILS } from './emails/emails.ts';
import { readEnvironment, type StoreEnvironment } from './environment.ts';
import { Deployments } from './environments/deployments.ts';
import { Environments } from './environments/environments.ts';
import { Epics } from './epics/epics.ts';
import { ErrorTracking } from './error-tracking/error-tracking.ts';
import { TrackedErrors } from './error-tracking/tracked-errors.ts';
import { Events } from './events/events.ts';
import { EventFeed } from './events/feed.ts';
import { Forks } from './forks/forks.ts';
import { PushUploads } from './git/push-uploads.ts';
import { Groups } from './groups/groups.ts';
import { GroupList } from './groups/list.ts';
import { GroupMoves } from './groups/moves.ts';
import { GroupOwners } from './groups/owners.ts';
import { HookDeliveries } from './hooks/deliveries.ts';
import { Hooks } from './hooks/hooks.ts';
import { Integrations } from './integrations/integrations.ts';
import { Invitations } from './invitations/invitations.ts';
import { IssueCopies } from './issues/copies.ts';
import { Issues } from './issues/issues.ts';
import { ISSUE_KIND } from './issues/kind.ts';
import { IssueLinks } from './issues/links.ts';
import { UserAgents } from './issues/user-agents.ts';
import { Iterations } from './iterations/iterations.ts';
import { JobTraces } from './job-traces/job-traces.ts';
import { CommitStatuses } from './jobs/commit-statuses.ts';
import { JobList } from './jobs/job-list.ts';
import { Jobs } from './jobs/jobs.ts';
import { GpgKeys, MAX_GPG_KEYS } from './keys/gpg-keys.ts';
import { MAX_SSH_KEYS, SshKeys } from './keys/ssh-keys.ts';
import { Labels } from './labels/labels.ts';
import { LfsLocks } from './lfs/locks.ts';
import { LfsObjects } from './lfs/objects.ts';
import { MaintenanceNotes } from './maintenance/last-runs.ts';
import { Leases } from './maintenance/leases.ts';
import { Members } from './members/members.ts';
import { Closing } from './merge-requests/closing.ts';
import { MERGE_REQUEST_KIND } from './merge-requests/kind.ts';
import { MergeRequests } from './merge-requests/merge-requests.ts';
import { Milestones } from './milestones/milestones.ts';
import { NamespaceList } from './namespaces/list.ts';
import { Discussions } from './notes/discussions.ts';
import { MentionNotes } from './notes/mention-notes.ts';
import { Mentions } from './notes/mentions.ts';
import { NotedEvents } from './notes/noted-events.ts';
import { Notes } from './notes/notes.ts';
import { Threads } from './notes/participants.ts';
import { NoteSearch } from './notes/search.ts';
import { NotificationSettings } from './notifications/settings.ts';
import { LinkSecrets } from './notifications/unsubscribe-secrets.ts';
import { Processed } from './outbox/idempotency.ts';
import { PromisesInOrder } from './outbox/in-order.ts';
import { Outbox } from './outbox/outbox.ts';
import { Queues } from './outbox/queues.ts';
import { Packages } from './packages/packages.ts';
import { PipelineSchedules } from './pipeline-schedules/pipeline-schedules.ts';
import { PipelineList } from './pipelines/pipeline-list.ts';
import { Pipelines } from './pipelines/pipelines.ts';
import { ReportedStatuses } from './pipelines/reported-statuses.ts';
import { PersonalNamespaces } from './placement/personal-namespace.ts';
import { ProjectShares } from './project-relations/shares.ts';
import { Projects } from './projects/projects.ts';
import { FAIL_FAST, RateLimits } from './rate-limits/rate-limits.ts';
import { ReadPlaces } from './rate-limits/read-places.ts';
import { UserAddresses } from './rate-limits/user-addresses.ts';
import { RefRules } from './refs/protection-rules.ts';
import { Releases } from './releases/releases.ts';
import { ForkNetworks } from './repository/fork-networks.ts';
import { PinnedCommits } from './repository/pinned-commits.ts';
import { Repositories } from './repository/repositories.ts';
import { type IssueFacet, issueKeys } from './row-keys/issues.ts';
import { type MergeRequestFacet, mergeRequestKeys } from './row-keys/merge-requests.ts';
import { RunnersTokens } from './runners/registration-tokens.ts';
import { Runners } from './runners/runners.ts';
import { ScimIdentities } from './scim/identities.ts';
import { ScimTokens } from './scim/tokens.ts';
import { Search } from './search/search.ts';
import { MasterKeyLeases } from './secrets/master-key-leases.ts';
import { SettingsRows } from './settings/settings.ts';
import { Snippets } from './snippets/snippets.ts';
import { Stars } from './stars/stars.ts';
import { Fetches } from './statistics/fetches.ts';
import { Statistics } from './statistics/statistics.ts';
import { StorageMoves } from './storage-moves/storage-moves.ts';
import { Counters } from './table/counters.ts';
import { PageEnds } from './table/page-ends.ts';
import { type RetryPolicy, standardRetries } from './table/retry.ts';
import { Table } from './table/table.ts';
import { TableClient } from './table/table-client.ts';
import { Names } from './table/unique-names.ts';
import { Texts } from './texts/texts.ts';
import { Todos } from './todos/todos.ts';
import { DeployTokens } from './tokens/deploy-tokens.ts';
import { Tokens } from './tokens/tokens.ts';
import { TopicAssignments } from './topics/assignments.ts';
import { Topics } from './topics/topics.ts';
import { TrackedList } from './tracked/list.ts';
import { TrackedUses } from './tracked/uses.ts';
import { Triggers } from './triggers/triggers.ts';
import { Uploads } from './uploads/uploads.ts';
import { Follows } from './users/follows.ts';
import { PasswordResets } from './users/password-resets.ts';
import { Users } from './users/users.ts';

export interface Store {
  readonly environment: StoreEnvironment;
  readonly table: Table;
  readonly blobs: Blobs;
  readonly texts: Texts;
  readonly uploads: Uploads;
  readonly lfsObjects: LfsObjects;
  readonly lfsLocks: LfsLocks;
  readonly todos: Todos;
  readonly queues: Queues;
  readonly users: Users;
  readonly sshKeys: SshKeys;
  readonly gpgKeys: GpgKeys;
  readonly emails: Emails;
  readonly confirmations: Confirmations;
  readonly passwordResets: PasswordResets;
  readonly tokens: Tokens;
  readonly deployTokens: DeployTokens;
  readonly projects: Projects;
  readonly personalNamespaces: PersonalNamespaces;
  readonly members: Members;
  readonly accessRequests: AccessRequests;
  readonly invitations: Invitations;
  readonly billableLists: BillableLists;
  readonly groups: Groups;
  readonly groupMoves: GroupMoves;
  readonly groupList: GroupList;
  readonly hookRecords: Hooks;
  readonly integrations: Integrations;
  readonly hookDeliveries: HookDeliveries;
  readonly promisesInOrder: PromisesInOrder;
  readonly namespaceList: NamespaceList;
  readonly groupOwners: GroupOwners;
  readonly refRules: RefRules;
  readonly releases: Releases;
  readonly environments: Environments;
  readonly deployments: Deployments;
  readonly approvalRules: ApprovalRuleSets;
  readonly names: Names;
  readonly repositories: Repositories;
  readonly networks: ForkNetworks;
  readonly projectShares: ProjectShares;
  readonly stars: Stars;
  readonly statistics: Statistics;
  readonly fetches: Fetches;
  readonly runnersTokens: RunnersTokens;
  readonly runners: Runners;
  readonly jobTraces: JobTraces;
  readonly topicRecords: Topics;
  readonly topicAssignments: TopicAssignments;
  readonly follows: Follows;
  readonly events: Events;
  readonly eventFeed: EventFeed;
  readonly forks: Forks;
  readonly pinnedCommits: PinnedCommits;
  readonly mentions: Mentions;
  readonly mentionNotes: MentionNotes;
  readonly notes: Notes;
  readonly noteSearch: NoteSearch;
  readonly userAgents: UserAgents;
  readonly discussions: Discussions;
  readonly notedEvents: NotedEvents;
  readonly awards: Awards;
  readonly issues: Issues;
  readonly issueCopies: IssueCopies;
  readonly issueList: TrackedList<IssueRecord, IssueFacet, IssueClass>;
  readonly issueUses: TrackedUses<IssueFacet, IssueClass>;
  readonly issueLinks: IssueLinks;
  readonly mergeRequests: MergeRequests;
  readonly mergeRequestList: TrackedList<MergeRequestRecord, MergeRequestFacet, MergeRequestState>;
  readonly closing: Closing;
  readonly mergeRequestUses: TrackedUses<MergeRequestFacet, MergeRequestState>;
  readonly notificationSettings: NotificationSettings;
  readonly threads: Threads;
  readonly linkSecrets: LinkSecrets;
  readonly auditEvents: AuditEvents;
  readonly packages: Packages;
  readonly artifacts: Artifacts;
  readonly pipelines: Pipelines;
  readonly pipelineList: PipelineList;
  readonly reportedStatuses: ReportedStatuses;
  readonly commitStatuses: CommitStatuses;
  readonly jobs: Jobs;
  readonly jobList: JobList;
  readonly labels: Labels;
  readonly milestones: Milestones;
  readonly epics: Epics;
  readonly iterations: Iterations;
  readonly snippets: Snippets;
  readonly storageMoves: StorageMoves;
  readonly objectCopies: ObjectCopies;
  readonly leases: Leases;
  readonly maintenanceNotes: MaintenanceNotes;
  readonly masterKeyLeases: MasterKeyLeases;
  readonly scimIdentities: ScimIdentities;
  readonly scimTokens: ScimTokens;
  readonly search: Search;
  readonly outbox: Outbox;
  readonly processed: Processed;
  readonly downloads: Downloads;
  readonly keptPacks: KeptPacks;
  readonly avatars: Avatars;
  readonly customAttributes: CustomAttributes;
  readonly rateLimits: RateLimits;
  readonly userAddresses: UserAddresses;
  readonly readPlaces: ReadPlaces;
  readonly pageEnds: PageEnds;
  readonly settings: SettingsRows;
  readonly stagingArea: Staging;
  readonly pushUploads: PushUploads;
  readonly ciVariables: CiVariables;
  readonly pipelineSchedules: PipelineSchedules;
  readonly triggers: Triggers;
  readonly errorTracking: ErrorTracking;
  readonly alertIntegrations: AlertIntegrations;
  readonly alerts: Alerts;
  readonly alertCauses: AlertCauses;
  readonly trackedErrors: TrackedErrors;
}

/** What the parts are made of beside one another. */
interface Made extends Store {
  readonly clients: AwsClients;
  readonly counters: Counters;
  /** Reads and writes that are given up at once: what waits for them is not worth waiting for. */
  readonly failFast: Table;
  readonly retries: RetryPolicy;
}

/** How each part is made, as `name: (s) => ...`: a function's bundle has those that its code names (`cdk/store-parts.ts`). */
const PARTS: {
  readonly [Part in keyof Omit<Made, 'environment' | 'clients' | 'retries'>]: (s: Made) => Made[Part];
} = {
  table: (s) => new Table(new TableClient(s.clients.dynamodb), s.environment.tableName, s.retries),
  failFast: (s) => new Table(new TableClient(s.clients.dynamodb), s.environment.tableName, FAIL_FAST),
  counters: (s) => new Counters(s.table),
  blobs: (s) => new Blobs(s.clients.s3, s.environment.objectsBucket, s.environment.storages),
  texts: (s) => new Texts(s.blobs),
  uploads: (s) => new Uploads(s.blobs),
  lfsObjects: (s) => new LfsObjects(s.table, s.blobs),
  lfsLocks: (s) => new LfsLocks(s.table),
  todos: (s) => new Todos(s.table, s.counters, s.outbox),
  queues: (s) => new Queues(s.clients.sqs, s.environment.queueUrls),
  users: (s) => new Users(s.table, s.names, s.counters, s.outbox, s.search),
  passwordResets: (s) => new PasswordResets(s.table, s.users),
  tokens: (s) => new Tokens(s.table, s.counters, s.outbox),
  deployTokens: (s) => new DeployTokens(s.table, s.counters),
  projects: (s) => new Projects(s.table, s.names, s.counters, s.outbox, s.search, s.members),
  personalNamespaces: (s) => new PersonalNamespaces(s.table, s.users, s.outbox),
  members: (s) => new Members(s.table),
  accessRequests: (s) => new AccessRequests(s.table, s.outbox),
  invitations: (s) => new Invitations(s.table, s.counters, s.outbox, s.members),
  billableLists: (s) => new BillableLists(s.table),
  groups: (s) => new Groups(s.table, s.names, s.counters, s.outbox),
  groupMoves: (s) => new GroupMoves(s.table, s.groups, s.projectShares, s.outbox),
  groupList: (s) => new GroupList(s.table, s.search, s.members),
  hookDeliveries: (s) => new HookDeliveries(s.table, s.outbox),
  promisesInOrder: (s) => new PromisesInOrder(s.table),
  hookRecords: (s) => new Hooks(s.table, s.counters),
  integrations: (s) => new Integrations(s.table, s.counters),
  namespaceList: (s) => new NamespaceList(s.table, s.search, s.users),
  groupOwners: (s) => new GroupOwners(s.table, s.members),
  refRules: (s) => new RefRules(s.table, s.counters),
  releases: (s) => new Releases(s.table, s.counters),
  environments: (s) => new Environments(s.table, s.counters, s.outbox),
  deployments: (s) => new Deployments(s.table, s.counters),
  approvalRules: (s) => new ApprovalRuleSets(s.table, s.counters),
  names: (s) => new Names(s.table),
  repositories: (s) => new Repositories(s.table, s.outbox),
  networks: (s) => new ForkNetworks(s.table),
  sshKeys: (s) =>
    new SshKeys(s.table, s.counters, s.outbox, { row: 'SSHKEY', counter: 'ssh-key', limit: MAX_SSH_KEYS }),
  gpgKeys: (s) =>
    new GpgKeys(s.table, s.counters, s.outbox, { row: 'GPGKEY', counter: 'gpg-key', limit: MAX_GPG_KEYS }),
  emails: (s) =>
    new Emails(s.table, s.counters, s.outbox, { row: 'ADDRESS', counter: 'email', limit: MAX_EMAILS }),
  confirmations: (s) => new Confirmations(s.table),
  projectShares: (s) => new ProjectShares(s.table, s.counters),
  stars: (s) => new Stars(s.table),
  statistics: (s) => new Statistics(s.table),
  fetches: (s) => new Fetches(s.failFast),
  runnersTokens: (s) => new RunnersTokens(s.table),
  runners: (s) => new Runners(s.table, s.counters),
  jobTraces: (s) => new JobTraces(s.table, s.blobs),
  topicRecords: (s) => new Topics(s.table, s.names, s.counters, s.outbox),
  topicAssignments: (s) => new TopicAssignments(s.table, s.topicRecords),
  follows: (s) => new Follows(s.table),
  events: (s) => new Events(s.table, s.counters),
  eventFeed: (s) => new EventFeed(s.table),
  forks: (s) => new Forks(s.table),
  pinnedCommits: (s) => new PinnedCommits(s.table),
  mentions: (s) => new Mentions(s.table),
  mentionNotes: (s) => new MentionNotes(s.table),
  notes: (s) => new Notes(s.table, s.counters),
  noteSearch: (s) => new NoteSearch(s.table, s.notes),
  userAgents: (s) => new UserAgents(s.table),
  notedEvents: (s) => new NotedEvents(s.table, s.notes),
  discussions: (s) => new Discussions(s.table),
  awards: (s) => new Awards(s.table, s.counters),
  issues: (s) => new Issues(s.table, s.counters, s.outbox),
  issueCopies: (s) => new IssueCopies(s.table),
  issueList: (s) => new TrackedList(ISSUE_KIND, s.table, s.issues),
  issueUses: (s) => new TrackedUses(issueKeys, s.table),
  issueLinks: (s) => new IssueLinks(s.table, s.counters),
  mergeRequests: (s) => new MergeRequests(s.table, s.counters, s.outbox),
  mergeRequestList: (s) => new TrackedList(MERGE_REQUEST_KIND, s.table, s.mergeRequests),
  closing: (s) => new Closing(s.table),
  mergeRequestUses: (s) => new TrackedUses(mergeRequestKeys, s.table),
  notificationSettings: (s) => new NotificationSettings(s.table),
  threads: (s) => new Threads(s.table),
  linkSecrets: (s) => new LinkSecrets(s.table),
  auditEvents: (s) => new AuditEvents(s.table, s.counters),
  packages: (s) => new Packages(s.table, s.blobs, s.counters, s.outbox),
  pipelines: (s) => new Pipelines(s.table, s.counters),
  pipelineList: (s) => new PipelineList(s.table),
  reportedStatuses: (s) => new ReportedStatuses(s.table, s.counters),
  artifacts: (s) => new Artifacts(s.table, s.blobs),
  commitStatuses: (s) => new CommitStatuses(s.table, s.pipelines),
  jobList: (s) => new JobList(s.table),
  jobs: (s) => new Jobs(s.table, s.counters, s.outbox, s.texts),
  labels: (s) => new Labels(s.table, s.counters, s.outbox),
  milestones: (s) => new Milestones(s.table, s.counters, s.outbox),
  epics: (s) => new Epics(s.table, s.counters, s.outbox),
  iterations: (s) => new Iterations(s.table, s.counters, s.outbox),
  snippets: (s) => new Snippets(s.table, s.counters, s.outbox, s.search),
  storageMoves: (s) => new StorageMoves(s.table, s.counters, s.outbox),
  objectCopies: (s) => new ObjectCopies(s.clients.s3, s.blobs),
  leases: (s) => new Leases(s.table),
  maintenanceNotes: (s) => new MaintenanceNotes(s.table, s.outbox),
  masterKeyLeases: (s) => new MasterKeyLeases(s.table),
  scimIdentities: (s) => new ScimIdentities(s.table, s.users),
  scimTokens: (s) => new ScimTokens(s.table),
  search: (s) => new Search(s.table),
  // Without queues, as in a command-line tool, messages wait for the sweep.
  outbox: (s) => new Outbox(s.table, Object.keys(s.environment.queueUrls).length > 0 ? s.queues : undefined),
  processed: (s) => new Processed(s.table),
  downloads: (s) => new Downloads(s.blobs, s.environment.maxStreamedBytes),
  keptPacks: (s) => new KeptPacks(s.blobs),
  avatars: (s) => new Avatars(s.table),
  customAttributes: (s) => new CustomAttributes(s.table),
  rateLimits: (s) => new RateLimits(s.table, s.failFast),
  userAddresses: (s) => new UserAddresses(s.failFast),
  readPlaces: (s) => new ReadPlaces(s.failFast),
  pageEnds: (s) => new PageEnds(s.failFast),
  settings: (s) => new SettingsRows(s.table),
  stagingArea: (s) => new Staging(s.clients.s3, s.blobs),
  pushUploads: (s) => new PushUploads(s.table, s.outbox),
  ciVariables: (s) => new CiVariables(s.table, s.counters),
  pipelineSchedules: (s) => new PipelineSchedules(s.table, s.counters, s.outbox),
  triggers: (s) => new Triggers(s.table, s.counters),
  alertIntegrations: (s) => new AlertIntegrations(s.table, s.counters),
  alerts: (s) => new Alerts(s.table, s.outbox, s.alertCauses),
  alertCauses: (s) => new AlertCauses(s.table, s.processed),
  errorTracking: (s) => new ErrorTracking(s.table, s.counters),
  trackedErrors: (s) => new TrackedErrors(s.table, s.counters),
};

/** Creates the store, by default with the process's own clients (`clients.ts`). Its parts are made when they are first used. */
export function createStore(
  environment: StoreEnvironment = readEnvironment(),
  clients: AwsClients = awsClients(),
  retries: RetryPolicy = standardRetries,
): Store {
  const store = { environment, clients, retries } as Made;
  for (const [part, make] of Object.entries(PARTS)) {
    Object.defineProperty(store, part, {
      configurable: true,
      enumerable: true,
      get() {
        const value = make(store);
        Object.defineProperty(store, part, { value, enumerable: true });
        return value;
      },
    });
  }
  return store;
}
