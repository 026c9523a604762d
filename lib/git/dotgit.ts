import { asBuffer } from '../bytes/as-buffer.ts';

/**
 * Names that some file system treats as `.git` or `.gitmodules`: HFS+ ignores case and certain code points,
 * NTFS case, trailing dots and spaces, and stream suffixes, and knows short names (CVE-2014-9390, CVE-2019-1352).
 */
export function isDotGit(name: Uint8Array): boolean {
  const text = asBuffer(name).toString('utf8');
  if (hfsFolded(text) === '.git') return true;
  return text.split('\\').some((part) => /^(\.git|git~1)[ .]*(:.*)?$/is.test(part));
}

/** Matches the name of a file that git reads from a tree, and its NTFS short names: numbered ones and hashed ones. */
function dotFile(plain: string, short: string, hash: string): (name: Uint8Array) => boolean {
  // As many letters of the hash as fit into eight characters with the number.
  const [head, ...rest] = hash;
  const hashed = rest.reduceRight((inner, letter) => `(${letter}${inner})?`, '');
  const names = `\\.${plain}|${short}~[1-4]|(?=.{8}[ .:]*)${head}${hashed}~[1-9][0-9]*`;
  const onNtfs = new RegExp(`^(${names})[ .]*(:.*)?$`, 'is');
  return (name) => {
    const text = asBuffer(name).toString('utf8');
    return hfsFolded(text) === `.${plain}` || text.split('\\').some((part) => onNtfs.test(part));
  };
}

/** @see isDotGit */
export const isDotGitmodules = dotFile('gitmodules', 'gitmod', 'gi7eba');
/** @see isDotGit */
export const isDotGitattributes = dotFile('gitattributes', 'gitatt', 'gi7d29');
/** @see isDotGit */
export const isDotGitignore = dotFile('gitignore', 'gitign', 'gi250a');
/** @see isDotGit */
export const isDotMailmap = dotFile('mailmap', 'mailma', 'maba30');

// Code points that HFS+ ignores when it compares names (Apple TN1150).
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

function hfsFolded(text: string): string {
  return text.replace(HFS_IGNORED, '').toLowerCase();
}
