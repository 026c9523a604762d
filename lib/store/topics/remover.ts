import type { Remover } from '../deletion/remover.ts';
import type { TopicAssignments } from './assignments.ts';

export const remover: Remover<{ readonly topicAssignments: TopicAssignments }> = {
  ofProject: {
    rows: ['project-topic'],
    async run({ topicAssignments }, { id }) {
      await topicAssignments.removeOfProject(id);
      return true;
    },
  },
};
