export type SearchKind = 'project' | 'user' | 'group';
