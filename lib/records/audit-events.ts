// Audit events of users, groups and projects. Each has its own partition, which outlives the deletion of the entity.

export type AuditedKind = 'User' | 'Group' | 'Project';
