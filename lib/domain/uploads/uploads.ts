/** Files attached to texts of a project: names, sizes, types. */
import { extname } from 'node:path';
import type { ProjectRecord } from '../../records/projects.ts';
import type { Deps } from '../deps.ts';
import { notFound, tooLarge } from '../errors.ts';

const MB = 1024 ** 2;
const MAX_NAME = 100;

/** Types that a browser shows by itself and that run no script; all others are downloaded. SVG runs scripts. */
const SHOWN: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.bmp': 'image/bmp',
  '.ico': 'image/vnd.microsoft.icon',
  '.mp4': 'video/mp4',
  '.m4v': 'video/mp4',
  '.webm': 'video/webm',
  '.ogv': 'video/ogg',
  '.mp3': 'audio/mpeg',
  '.oga': 'audio/ogg',
  '.ogg': 'audio/ogg',
  '.wav': 'audio/wav',
};
/** Shown in place by the Markdown that is returned, beside {@link SHOWN}: an `img` element runs no scripts of an SVG. */
const EMBEDDED = new Set([...Object.keys(SHOWN), '.svg', '.tiff', '.mov']);

const extensionOf = (name: string): string => extname(name).toLowerCase();

/** The type to serve a file with; undefined: it is not to be shown, but downloaded. */
export const shownType = (name: string): string | undefined => SHOWN[extensionOf(name)];

export interface AttachedFile {
  readonly name: string;
  readonly secret: string;
  /** Text of a link or image: of an image, the name without its extension. */
  readonly alt: string;
  /** Whether Markdown shows the file itself, not a link. */
  readonly embedded: boolean;
}

/**
 * Stores a file of a project. Who may upload is the caller's concern.
 * @throws 413 above `max_attachment_size`, 404 if the project is deleted meanwhile
 */
export async function attachFile(
  { store, settings }: Deps,
  project: ProjectRecord,
  file: { readonly filename: string; readonly bytes: Uint8Array },
): Promise<AttachedFile> {
  await requireAttachable({ settings }, file);
  const attached = named(file.filename);
  const { name } = attached;
  const secret = await store.uploads.add(project.id, name, file.bytes);
  // What removes a deleted project's files may have passed already.
  const now = await store.projects.get(project.id);
  if (now === undefined || now.deletedAt !== null) {
    await store.uploads.delete(project.id, secret, name);
    throw notFound('Project');
  }
  return { ...attached, secret };
}

/** @throws 413 above `max_attachment_size` */
export async function requireAttachable(
  { settings }: Pick<Deps, 'settings'>,
  { bytes }: { readonly bytes: Uint8Array },
): Promise<void> {
  const { max_attachment_size: limit } = await settings.current();
  if (bytes.length > limit * MB) throw tooLarge();
}

/** The name that a file gets, and how Markdown shows it. */
export function named(filename: string): Omit<AttachedFile, 'secret'> {
  const name = fileName(filename);
  const embedded = EMBEDDED.has(extensionOf(name));
  return { name, embedded, alt: embedded ? name.slice(0, -extensionOf(name).length) : name };
}

/** Replaces what is special in URLs or Markdown, and keeps the end of the name with its extension. */
function fileName(given: string): string {
  const name = [
    ...given
      .toWellFormed()
      .normalize()
      .replace(/[^\p{L}\p{N}_.+-]+/gu, '_'),
  ]
    .slice(-MAX_NAME)
    .join('');
  return /^\.*$/.test(name) ? '_' : name;
}
