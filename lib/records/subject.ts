/** What may be said of any user, group or project, and goes with it. */
export interface Subject {
  readonly kind: 'user' | 'group' | 'project';
  readonly id: number;
}
