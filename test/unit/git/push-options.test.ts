import { describe, expect, it, test } from 'vitest';
import { parsePushOptions } from '../../../lib/domain/git/push-options.ts';

const NOTHING = { mergeRequest: undefined, skipCi: false, ciVariables: [], warnings: [] };

describe('push options', () => {
  it('name what a merge request is to be', () => {
    const { mergeRequest, warnings } = parsePushOptions([
      'merge_request.create',
      'merge_request.target=stable',
      'merge_request.target_project=group/project',
      'merge_request.title=Say = hello',
      'merge_request.description=Because',
      'merge_request.label=one, two',
      'merge_request.label=three',
      'merge_request.unlabel=four',
      'merge_request.assign=ada',
      'merge_request.unassign=7',
      'merge_request.milestone=v1',
      'merge_request.draft',
      'merge_request.merge_when_pipeline_succeeds',
      'merge_request.remove_source_branch=true',
      'mr.squash=false',
    ]);
    expect(warnings).toEqual([]);
    expect(mergeRequest).toEqual({
      create: true,
      target: 'stable',
      targetProject: 'group/project',
      title: 'Say = hello',
      description: 'Because',
      label: ['one, two', 'three'],
      unlabel: ['four'],
      assign: ['ada'],
      unassign: ['7'],
      milestone: 'v1',
      draft: true,
      mergeWhenPipelineSucceeds: true,
      removeSourceBranch: true,
      squash: false,
    });
  });

  it('name what pipelines are to do', () => {
    expect(parsePushOptions(['ci.skip', 'ci.variable=A=1', 'ci.variable=B=x=y', 'ci.variable=C='])).toEqual({
      ...NOTHING,
      skipCi: true,
      ciVariables: [
        { key: 'A', value: '1' },
        { key: 'B', value: 'x=y' },
        { key: 'C', value: '' },
      ],
    });
  });

  it('given twice hold as given last', () => {
    expect(parsePushOptions(['merge_request.title=one', 'merge_request.title=two']).mergeRequest).toEqual({
      title: 'two',
    });
  });

  it.each([
    ['merge_request.craete', 'is unknown'],
    ['merge_request', 'is unknown'],
    ['merge_request.constructor', 'is unknown'],
    ['', 'is unknown'],
    ['nonsense', 'is unknown'],
    ['ci.skipp', 'is unknown'],
    ['merge_request.draft=maybe', 'is either true or false'],
    ['merge_request.title', 'needs a value'],
    ['merge_request.title= ', 'needs a value'],
    ['merge_request.label=', 'needs a value'],
    ['ci.variable=A', 'is not of the form ci.variable=KEY=VALUE'],
    ['ci.variable=A-B=1', 'is not of the form ci.variable=KEY=VALUE'],
  ])('%j %s, which is told', (option, problem) => {
    const read = parsePushOptions([option, 'ci.skip']);
    expect(read).toEqual({
      ...NOTHING,
      skipCi: true,
      warnings: [`warning: push option '${option.trim()}' ${problem}`],
    });
  });

  test('a warning repeats no control characters, and little of a long option', () => {
    expect(parsePushOptions(['\u001b[31mred', 'x'.repeat(9000)]).warnings).toEqual([
      "warning: push option '[31mred' is unknown",
      `warning: push option '${'x'.repeat(60)}…' is unknown`,
    ]);
  });
});
