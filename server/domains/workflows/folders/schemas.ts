import { z } from 'zod';
import { Id } from '../../../operation/wire.ts';
import { FolderPath, Tags } from './names.ts';

/** The maximum number of workflows that one request moves or tags. */
const MAX_WORKFLOWS = 200;

export const OrganizeInput = z.strictObject({
  workflow_ids: z.array(Id).min(1).max(MAX_WORKFLOWS),
  folder: FolderPath.optional().meta({ description: 'Moves them there; empty: out of any folder' }),
  add_tags: Tags.optional(),
  remove_tags: Tags.optional(),
});
const Organized = z.strictObject({ id: Id, folder: z.string(), tags: z.array(z.string()) });
export const OrganizeOutput = z.strictObject({ workflows: z.array(Organized) });

export const RenameFolderInput = z.strictObject({
  from: FolderPath.meta({ description: 'The path of the folder' }),
  to: FolderPath.meta({
    description: 'Its new path; an existing one joins both, an empty one removes the folder',
  }),
});
export const RenameFolderOutput = z.strictObject({ workflows: z.number().int() });

export const ListFoldersInput = z.strictObject({});
export const ListFoldersOutput = z.strictObject({
  folders: z.array(
    z.strictObject({
      path: z.string(),
      workflows: z.number().int().meta({ description: 'Of the folder and of those inside it, without archived ones' }),
    }),
  ),
  tags: z.array(z.strictObject({ tag: z.string(), workflows: z.number().int() })),
});
