export type SearchKind = 'project' | 'user' | 'group' | 'snippet';
