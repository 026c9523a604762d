import type { Remover } from '../deletion/remover.ts';
import { deleteRow, untilNoneLeft } from '../table/delete-page.ts';
import type { Table } from '../table/table.ts';
import type { NotificationSettings } from './settings.ts';

interface Stores {
  readonly table: Table;
  readonly notificationSettings: NotificationSettings;
}

export const remover: Remover<Stores> = {
  ofProject: {
    rows: ['notification-choice'],
    run: ({ notificationSettings }, { id }, deadline) =>
      untilNoneLeft(() => notificationSettings.removeOfResource({ kind: 'project', id }), deadline),
  },
  ofGroup: {
    rows: ['notification-choice'],
    run: ({ notificationSettings }, { id }, deadline) =>
      untilNoneLeft(() => notificationSettings.removeOfResource({ kind: 'group', id }), deadline),
  },
  ofUserRows: {
    rows: ['notification-choice', 'watcher'],
    byRow: { NOTIFY: deleteRow, GROUPNOTIFY: deleteRow, WATCHER: deleteRow },
  },
};
