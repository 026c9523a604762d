/**
 * Names that some file system takes for `.git` or `.gitmodules`: HFS+ ignores case and certain code points,
 * NTFS case, trailing dots and spaces, and stream suffixes, and knows short names (CVE-2014-9390, CVE-2019-1352).
 */
export function isDotGit(name: Uint8Array): boolean {
  const text = Buffer.from(name.buffer, name.byteOffset, name.byteLength).toString('utf8');
  if (hfsFolded(text) === '.git') return true;
  return text.split('\\').some((part) => /^(\.git|git~1)[ .]*(:.*)?$/is.test(part));
}

/** @see isDotGit */
export function isDotGitmodules(name: Uint8Array): boolean {
  const text = Buffer.from(name.buffer, name.byteOffset, name.byteLength).toString('utf8');
  if (hfsFolded(text) === '.gitmodules') return true;
  return text
    .split('\\')
    .some((part) =>
      /^(\.gitmodules|gitmod~[1-4]|(?=.{8}[ .:]*)g(i(7(e(ba?)?)?)?)?~[1-9][0-9]*)[ .]*(:.*)?$/is.test(part),
    );
}

// What HFS+ drops before it compares names (Apple TN1150).
const HFS_IGNORED = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g;

function hfsFolded(text: string): string {
  return text.replace(HFS_IGNORED, '').toLowerCase();
}
