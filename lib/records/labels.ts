/** A project or a group: what labels and milestones belong to. */
export interface Container {
  readonly kind: 'project' | 'group';
  readonly id: number;
}

/** A label of a project, or of a group, whose projects and subgroups have it too. */
export interface LabelRecord {
  readonly id: number;
  readonly container: Container;
  /** At most 255 characters, without commas. Case counts: `bug` and `Bug` are two labels. */
  readonly title: string;
  readonly description: string | null;
  /** Of its Markdown; null or absent: the description has none. */
  readonly descriptionHtml?: string | null;
  /** `#` and three or six hexadecimal digits. */
  readonly color: string;
  /** Its rank among the labels of the project, 0 being the highest; null: none. Of labels of projects only. */
  readonly priority: number | null;
  /** Of a label of a group: a project below gave it a priority once. */
  readonly prioritized?: true;
  /** ISO 8601, UTC. */
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly version: number;
}
