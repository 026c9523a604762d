/** What the service notes on alerts. */

import type { AlertRecord } from '../../records/alerts.ts';

/** Where notes on an alert are. */
export const alertThread = ({ projectId, iid }: Pick<AlertRecord, 'projectId' | 'iid'>) =>
  ({ projectId, noteable: { kind: 'alert', id: iid }, iid }) as const;

/** It ended by itself. */
export const recoveryText = ({ monitoringTool }: Pick<AlertRecord, 'monitoringTool'>): string =>
  `logged a recovery alert from ${monitoringTool === null ? 'a monitoring tool' : `**${oneWord(monitoringTool)}**`}`;

/** What a tool calls itself, without what Markdown makes of it. */
const oneWord = (name: string): string => name.replace(/[^\p{L}\p{N}._-]+/gu, ' ').trim();
