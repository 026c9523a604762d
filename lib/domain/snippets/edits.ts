import type { EditAction } from '../../git/edit.ts';
import type { SnippetRecord } from '../../records/snippets.ts';
import { refusedSnippet } from './content.ts';

/** A change of one file. */
export interface FileChange {
  readonly action: 'create' | 'update' | 'delete' | 'move';
  readonly path?: string | undefined;
  readonly previousPath?: string | undefined;
  readonly content?: string | undefined;
}

/** The deprecated form, for a snippet with one file. */
export interface SingleFile {
  readonly fileName?: string | undefined;
  readonly content?: string | undefined;
}

/** @throws 400 for a change that lacks what its action needs */
export const editsOf = (changes: readonly FileChange[]): EditAction[] => changes.map(editOf);

function editOf({ action, path = '', previousPath = '', content }: FileChange): EditAction {
  const bytes = content === undefined ? undefined : Buffer.from(content);
  const lacks = path === '' || (action === 'move' && previousPath === '');
  if (lacks || ((action === 'create' || action === 'update') && bytes === undefined))
    throw refusedSnippet('Snippet actions have invalid data');
  switch (action) {
    case 'create':
      return { action, path, content: bytes! };
    case 'update':
      // A new name together with content is a move.
      return previousPath === '' || previousPath === path
        ? { action, path, content: bytes! }
        : { action: 'move', path, from: previousPath, content: bytes! };
    case 'delete':
      return { action, path };
    case 'move':
      return { action, path, from: previousPath, ...(bytes !== undefined && { content: bytes }) };
  }
}

/** @throws 400 for a snippet with several files */
export function editsOfSingle({ files }: SnippetRecord, { fileName, content }: SingleFile): EditAction[] {
  if (fileName === undefined && content === undefined) return [];
  if (files.length > 1)
    throw refusedSnippet('To update Snippets with multiple files, you must use the `files` parameter');
  const [current] = files;
  const bytes = content === undefined ? undefined : Buffer.from(content);
  const path = fileName === undefined || fileName === '' ? current : fileName;
  if (current === undefined) {
    if (path === undefined) throw refusedSnippet('Snippet actions have invalid data');
    return [{ action: 'create', path, content: bytes ?? new Uint8Array(0) }];
  }
  if (path !== undefined && path !== current)
    return [{ action: 'move', path, from: current, ...(bytes !== undefined && { content: bytes }) }];
  return bytes === undefined ? [] : [{ action: 'update', path: current, content: bytes }];
}
