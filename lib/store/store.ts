/** The domain's access to storage, queues and AWS services; created once per process. */
import type { IssueClass, IssueRecord } from '../records/issues.ts';
import type { MergeRequestRecord, MergeRequestState } from '../records/merge-requests.ts';
import { AccessRequests } from './access-requests/access-requests.ts';
import { ApprovalRuleSets } from './approvals/rules.ts';
import { AuditEvents } from './audit-events/audit-events.ts';
import { Avatars } from './avatars/avatars.ts';
import { Awards } from './award-emoji/award-emoji.ts';
import { BillableLists } from './billable-members/lists.ts';
import { Blobs } from './blobs/blobs.ts';
import { Downloads } from './blobs/downloads.ts';
import { Staging } from './blobs/staging.ts';
import { type AwsClients, awsClients, documentClient } from './clients.ts';
import { CustomAttributes } from './custom-attributes/custom-attributes.ts';
import { Confirmations, Emails, MAX_EMAILS } from './emails/emails.ts';
import { readEnvironment, type StoreEnvironment } from './environment.ts';
import { Epics } from './epics/epics.ts';
import { Events } from './events/events.ts';
import { EventFeed } from './events/feed.ts';
import { Forks } from './forks/forks.ts';
import { PushUploads } from './git/push-uploads.ts';
import { Groups } from './groups/groups.ts';
import { GroupList } from './groups/list.ts';
import { GroupMoves } from './groups/moves.ts';
import { GroupOwners } from './groups/owners.ts';
import { Invitations } from './invitations/invitations.ts';
import { IssueCopies } from './issues/copies.ts';
import { Issues } from './issues/issues.ts';
import { ISSUE_KIND } from './issues/kind.ts';
import { IssueLinks } from './issues/links.ts';
import { UserAgents } from './issues/user-agents.ts';
import { Iterations } from './iterations/iterations.ts';
import { GpgKeys, MAX_GPG_KEYS } from './keys/gpg-keys.ts';
import { MAX_SSH_KEYS, SshKeys } from './keys/ssh-keys.ts';
import { Labels } from './labels/labels.ts';
import { MaintenanceNotes } from './maintenance/last-runs.ts';
import { Leases } from './maintenance/leases.ts';
import { Members } from './members/members.ts';
import { MERGE_REQUEST_KIND } from './merge-requests/kind.ts';
import { MergeRequests } from './merge-requests/merge-requests.ts';
import { Milestones } from './milestones/milestones.ts';
import { NamespaceList } from './namespaces/list.ts';
import { Discussions } from './notes/discussions.ts';
import { Mentions } from './notes/mentions.ts';
import { NotedEvents } from './notes/noted-events.ts';
import { Notes } from './notes/notes.ts';
import { Threads } from './notes/participants.ts';
import { NoteSearch } from './notes/search.ts';
import { NotificationSettings } from './notifications/settings.ts';
import { LinkSecrets } from './notifications/unsubscribe-secrets.ts';
import { Processed } from './outbox/idempotency.ts';
import { Outbox } from './outbox/outbox.ts';
import { Queues } from './outbox/queues.ts';
import { Pipelines } from './pipelines/pipelines.ts';
import { PersonalNamespaces } from './placement/personal-namespace.ts';
import { ProjectShares } from './project-relations/shares.ts';
import { Projects } from './projects/projects.ts';
import { FAIL_FAST, RateLimits } from './rate-limits/rate-limits.ts';
import { ReadPlaces } from './rate-limits/read-places.ts';
import { UserAddresses } from './rate-limits/user-addresses.ts';
import { RefRules } from './refs/protection-rules.ts';
import { ForkNetworks } from './repository/fork-networks.ts';
import { PinnedCommits } from './repository/pinned-commits.ts';
import { Repositories } from './repository/repositories.ts';
import type { CounterKind } from './row-keys/counters.ts';
import { type IssueFacet, issueKeys } from './row-keys/issues.ts';
import type { OwnKind } from './row-keys/keys.ts';
import { type MergeRequestFacet, mergeRequestKeys } from './row-keys/merge-requests.ts';
import { RunnersTokens } from './runners/registration-tokens.ts';
import { ScimIdentities } from './scim/identities.ts';
import { ScimTokens } from './scim/tokens.ts';
import { Search } from './search/search.ts';
import { MasterKeyLeases } from './secrets/master-key-leases.ts';
import { SettingsRows } from './settings/settings.ts';
import { Stars } from './stars/stars.ts';
import { Fetches } from './statistics/fetches.ts';
import { Statistics } from './statistics/statistics.ts';
import { Counters } from './table/counters.ts';
import { type RetryPolicy, standardRetries } from './table/retry.ts';
import { Table } from './table/table.ts';
import { Names } from './table/unique-names.ts';
import { Texts } from './texts/texts.ts';
import { Todos } from './todos/todos.ts';
import { DeployTokens } from './tokens/deploy-tokens.ts';
import { Tokens } from './tokens/tokens.ts';
import { TopicAssignments } from './topics/assignments.ts';
import { Topics } from './topics/topics.ts';
import { TrackedList } from './tracked/list.ts';
import { TrackedUses } from './tracked/uses.ts';
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
  readonly namespaceList: NamespaceList;
  readonly groupOwners: GroupOwners;
  readonly refRules: RefRules;
  readonly approvalRules: ApprovalRuleSets;
  readonly names: Names;
  readonly repositories: Repositories;
  readonly networks: ForkNetworks;
  readonly projectShares: ProjectShares;
  readonly stars: Stars;
  readonly statistics: Statistics;
  readonly fetches: Fetches;
  readonly runnersTokens: RunnersTokens;
  readonly topics: Topics;
  readonly topicAssignments: TopicAssignments;
  readonly follows: Follows;
  readonly events: Events;
  readonly eventFeed: EventFeed;
  readonly forks: Forks;
  readonly pinnedCommits: PinnedCommits;
  readonly mentions: Mentions;
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
  readonly mergeRequestUses: TrackedUses<MergeRequestFacet, MergeRequestState>;
  readonly notificationSettings: NotificationSettings;
  readonly threads: Threads;
  readonly linkSecrets: LinkSecrets;
  readonly auditEvents: AuditEvents;
  readonly pipelines: Pipelines;
  readonly labels: Labels;
  readonly milestones: Milestones;
  readonly epics: Epics;
  readonly iterations: Iterations;
  readonly leases: Leases;
  readonly maintenanceNotes: MaintenanceNotes;
  readonly masterKeyLeases: MasterKeyLeases;
  readonly scimIdentities: ScimIdentities;
  readonly scimTokens: ScimTokens;
  readonly search: Search;
  readonly outbox: Outbox;
  readonly processed: Processed;
  readonly downloads: Downloads;
  readonly avatars: Avatars;
  readonly customAttributes: CustomAttributes;
  readonly rateLimits: RateLimits;
  readonly userAddresses: UserAddresses;
  readonly readPlaces: ReadPlaces;
  readonly settings: SettingsRows;
  readonly staging: Staging;
  readonly pushUploads: PushUploads;
}

/** Creates the store, by default with the process's own clients (`clients.ts`). */
export function createStore(
  environment: StoreEnvironment = readEnvironment(),
  clients: AwsClients = awsClients(),
  retries: RetryPolicy = standardRetries,
): Store {
  const client = documentClient(clients.dynamodb);
  const table = new Table(client, environment.tableName, retries);
  const failFast = new Table(client, environment.tableName, FAIL_FAST);
  const queues = new Queues(clients.sqs, environment.queueUrls);
  const counters = new Counters(table);
  const names = new Names(table);
  // Without queues, as in a command-line tool, messages wait for the sweep.
  const outbox = new Outbox(table, Object.keys(environment.queueUrls).length > 0 ? queues : undefined);
  const search = new Search(table);
  const members = new Members(table);
  const groups = new Groups(table, names, counters, outbox);
  const projects = new Projects(table, names, counters, outbox, search, members);
  const users = new Users(table, names, counters, outbox, search);
  const scimIdentities = new ScimIdentities(table, users);
  const topics = new Topics(table, names, counters, outbox);
  const scimTokens = new ScimTokens(table);
  const tokens = new Tokens(table, counters, outbox);
  const deployTokens = new DeployTokens(table, counters);
  const projectShares = new ProjectShares(table, counters);
  const accessRequests = new AccessRequests(table, outbox);
  const invitations = new Invitations(table, counters, outbox, members);
  const issues = new Issues(table, counters, outbox);
  const mergeRequests = new MergeRequests(table, counters, outbox);
  const notes = new Notes(table, counters);
  const notificationSettings = new NotificationSettings(table);
  const blobs = new Blobs(clients.s3, environment.objectsBucket);
  const owned = (row: OwnKind, counter: CounterKind, limit: number) =>
    [table, counters, outbox, { row, counter, limit }] as const;
  return {
    environment,
    table,
    blobs,
    texts: new Texts(blobs),
    uploads: new Uploads(blobs),
    todos: new Todos(table, counters, outbox),
    queues,
    users,
    passwordResets: new PasswordResets(table, users),
    tokens,
    deployTokens,
    projects,
    personalNamespaces: new PersonalNamespaces(table, users, outbox),
    members,
    accessRequests,
    invitations,
    billableLists: new BillableLists(table),
    groups,
    groupMoves: new GroupMoves(table, groups, projectShares, outbox),
    groupList: new GroupList(table, search, members),
    namespaceList: new NamespaceList(table, search, users),
    groupOwners: new GroupOwners(table, members),
    refRules: new RefRules(table, counters),
    approvalRules: new ApprovalRuleSets(table, counters),
    names,
    repositories: new Repositories(table, outbox),
    networks: new ForkNetworks(table),
    sshKeys: new SshKeys(...owned('SSHKEY', 'ssh-key', MAX_SSH_KEYS)),
    gpgKeys: new GpgKeys(...owned('GPGKEY', 'gpg-key', MAX_GPG_KEYS)),
    emails: new Emails(...owned('ADDRESS', 'email', MAX_EMAILS)),
    confirmations: new Confirmations(table),
    projectShares,
    stars: new Stars(table),
    statistics: new Statistics(table),
    fetches: new Fetches(failFast),
    runnersTokens: new RunnersTokens(table),
    topics,
    topicAssignments: new TopicAssignments(table, topics),
    follows: new Follows(table),
    events: new Events(table, counters),
    eventFeed: new EventFeed(table),
    forks: new Forks(table),
    pinnedCommits: new PinnedCommits(table),
    mentions: new Mentions(table),
    notes,
    noteSearch: new NoteSearch(table, notes),
    userAgents: new UserAgents(table),
    notedEvents: new NotedEvents(table, notes),
    discussions: new Discussions(table),
    awards: new Awards(table, counters),
    issues,
    issueCopies: new IssueCopies(table),
    issueList: new TrackedList(ISSUE_KIND, table, issues),
    issueUses: new TrackedUses(issueKeys, table),
    issueLinks: new IssueLinks(table, counters),
    mergeRequests,
    mergeRequestList: new TrackedList(MERGE_REQUEST_KIND, table, mergeRequests),
    mergeRequestUses: new TrackedUses(mergeRequestKeys, table),
    notificationSettings,
    threads: new Threads(table),
    linkSecrets: new LinkSecrets(table),
    auditEvents: new AuditEvents(table, counters),
    pipelines: new Pipelines(table, counters),
    labels: new Labels(table, counters, outbox),
    milestones: new Milestones(table, counters, outbox),
    epics: new Epics(table, counters, outbox),
    iterations: new Iterations(table, counters, outbox),
    leases: new Leases(table),
    maintenanceNotes: new MaintenanceNotes(table),
    masterKeyLeases: new MasterKeyLeases(table),
    scimIdentities,
    scimTokens,
    search,
    outbox,
    processed: new Processed(table),
    downloads: new Downloads(blobs, environment.maxStreamedBytes),
    avatars: new Avatars(table),
    customAttributes: new CustomAttributes(table),
    rateLimits: new RateLimits(table, failFast),
    userAddresses: new UserAddresses(failFast),
    readPlaces: new ReadPlaces(failFast),
    settings: new SettingsRows(table),
    staging: new Staging(clients.s3, blobs),
    pushUploads: new PushUploads(table, outbox),
  };
}
