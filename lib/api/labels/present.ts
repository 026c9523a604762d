import { textColorOn } from '../../domain/labels/colors.ts';
import type { LabelRecord } from '../../records/labels.ts';

/** A label inside of what has it. */
export const labelDetails = ({ id, title, description, descriptionHtml, color }: LabelRecord) => ({
  id,
  name: title,
  description,
  description_html: description === null ? null : (descriptionHtml ?? escaped(description)),
  text_color: textColorOn(color),
  color,
});

export const groupLabel = (label: LabelRecord, subscribed: boolean) => ({
  ...labelDetails(label),
  subscribed,
});

export const projectLabel = (label: LabelRecord, subscribed: boolean) => ({
  ...groupLabel(label, subscribed),
  priority: label.priority,
  is_project_label: label.container.kind === 'project',
});

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
