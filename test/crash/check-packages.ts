import type { PackageFileRecord, PackageRecord } from '../../lib/records/packages.ts';
import {
  newestPackageFileKey,
  PACKAGE_FILE_PREFIX,
  PACKAGE_PREFIX,
  packageContentKey,
  packageCountKey,
  packageFileKey,
  packageFilesPartition,
  packageKey,
  packageNameKey,
  packageOrderKey,
} from '../../lib/store/row-keys/packages.ts';
import { livingOf } from './records.ts';
import { keyText, type Row, rowCheck } from './rows.ts';

const KINDS = [
  'package',
  'package-name',
  'package-order',
  'package-count',
  'package-content',
  'package-file',
  'newest-package-file',
] as const;

/** Each package is under its name and in both orders, counts its files, and each of these has its content. */
export const packages = rowCheck(KINDS, function* (rows) {
  const all = rows.of('PACKAGES#');
  const allFiles = rows.of('PACKAGEFILES#');
  for (const { id: projectId } of livingOf(rows)) {
    const own = all.filter(({ pk }) => pk === packageCountKey(projectId).pk);
    const held = own.filter(({ sk }) => sk.startsWith(PACKAGE_PREFIX)) as unknown as (Row & PackageRecord)[];
    const expected = new Set<string>();
    let bytes = 0;
    for (const { id, name, version, ...record } of held) {
      for (const key of [
        packageKey(projectId, id),
        packageNameKey(projectId, name, version),
        packageOrderKey(projectId, 'name', name, id),
        packageOrderKey(projectId, 'version', version, id),
      ])
        expected.add(keyText(key));
      const inPackage = allFiles.filter(({ pk }) => pk === packageFilesPartition(id));
      const files = inPackage.filter(({ sk }) => sk.startsWith(PACKAGE_FILE_PREFIX)) as unknown as (Row &
        PackageFileRecord)[];
      const sum = files.reduce((total, { size }) => total + size, 0);
      if (files.length !== record.files || sum !== record.bytes)
        yield `package ${id} counts ${record.files} files of ${record.bytes} bytes, and has ${files.length} of ${sum}`;
      bytes += sum;
      const newest = new Map<string, number>();
      for (const { id: fileId, name: fileName, location, pk, sk } of files) {
        if (packageFileKey(id, fileId).sk !== sk) yield `${keyText({ pk, sk })} holds the file ${fileId}`;
        expected.add(keyText(packageContentKey(projectId, location.slice(location.indexOf('/') + 1))));
        newest.set(fileName, Math.max(fileId, newest.get(fileName) ?? 0));
      }
      for (const [fileName] of newest)
        if (rows.get(newestPackageFileKey(id, fileName)) === undefined)
          yield `package ${id} has no newest file ${fileName}`;
      if (inPackage.length !== files.length + newest.size)
        yield `package ${id} has ${inPackage.length - files.length} newest files for ${newest.size} names`;
    }
    for (const row of own) {
      if (row.sk === 'COUNT') continue;
      if (!expected.delete(keyText(row))) yield `${keyText(row)} is of no package`;
    }
    for (const key of expected) yield `project ${projectId} lacks the row ${key}`;
    const count = rows.get(packageCountKey(projectId));
    const counted = [(count?.['packages'] as number) ?? 0, (count?.['bytes'] as number) ?? 0];
    if (counted[0] !== held.length || counted[1] !== bytes)
      yield `project ${projectId} counts ${counted.join(' packages, ')} bytes; it has ${held.length} and ${bytes}`;
  }
});
