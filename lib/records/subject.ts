/** A user, group or project: the owner of rows such as avatars and custom attributes, which are deleted with it. */
export interface Subject {
  readonly kind: 'user' | 'group' | 'project';
  readonly id: number;
}
