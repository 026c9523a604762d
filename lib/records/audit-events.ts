// Audit events of users, groups, projects and the instance (id 1). Each has its own partition, which outlives the deletion
// of the entity.

export type AuditedKind = 'User' | 'Group' | 'Project' | 'Instance';
