/** Avatars of users, groups, projects and topics: validation and storage. */
import { ulid } from 'ulid';
import type { AvatarOwner, AvatarRecord } from '../../records/avatars.ts';
import type { UserRecord } from '../../records/users.ts';
import { avatarWrite } from '../../store/avatars/avatars.ts';
import { sameName } from '../../store/table/unique-names.ts';
import type { Write } from '../../store/table/write.ts';
import type { Deps } from '../deps.ts';
import { invalid } from '../errors.ts';
import { emailProblems } from '../name-rules.ts';
import { IMAGE_TYPES, readImage } from './images.ts';

const MAX_BYTES = 200 * 1024;
/** Maximum width and height: a small file can expand to a very large image in the viewer's memory. */
const MAX_PIXELS = 4096;

/** An uploaded file. */
export interface AvatarFile {
  readonly filename: string;
  readonly bytes: Uint8Array;
}

export interface NewAvatar {
  /** The new value in the subject's record; null: removed. */
  readonly avatar: AvatarRecord | null;
  /** Writes for the transaction that updates the record. */
  readonly writes: (subject: AvatarOwner) => readonly Write[];
}

/**
 * @param file null removes the avatar, undefined keeps it
 * @throws 400 `{"avatar": [...]}`
 */
export function newAvatar(file: AvatarFile | null | undefined): NewAvatar | undefined {
  if (file === undefined) return undefined;
  if (file === null) return { avatar: null, writes: (subject) => [avatarWrite(subject, undefined)] };
  const { bytes } = file;
  if (bytes.length > MAX_BYTES) throw invalid({ avatar: ['is too big (should be at most 200 KiB)'] });
  const image = readImage(bytes);
  if (image === undefined) throw invalid({ avatar: [UNSUPPORTED] });
  if (image.width > MAX_PIXELS || image.height > MAX_PIXELS) {
    throw invalid({ avatar: [`is too large (should be at most ${MAX_PIXELS} by ${MAX_PIXELS} pixels)`] });
  }
  const avatar = { filename: fileName(file.filename), type: image.type, version: ulid() };
  return { avatar, writes: (subject) => [avatarWrite(subject, { ...avatar, bytes })] };
}

const UNSUPPORTED = `file format is not supported. Please try one of the following supported formats: ${IMAGE_TYPES.join(', ')}`;

const MAX_NAME = 100;

/** Replaces characters that are unsafe in a URL, and keeps the end of the name with its extension. */
const fileName = (given: string): string => given.replace(/[^\w.-]+/g, '_').slice(-MAX_NAME) || 'avatar';

/** Returns the active user with this public email. Addresses that are not public are not disclosed. */
export async function userByPublicEmail({ store }: Deps, email: string): Promise<UserRecord | undefined> {
  if (emailProblems(email).length > 0) return undefined;
  const user = await store.users.byEmail(email);
  const shown = user?.profile['public_email'];
  return user?.state === 'active' && typeof shown === 'string' && sameName(shown, email) ? user : undefined;
}
