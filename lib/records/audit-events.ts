// What was done to users, groups and projects: a partition of its own for each, which stays when they go.

export type AuditedKind = 'User' | 'Group' | 'Project';
