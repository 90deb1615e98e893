import { EditorView, type Extension } from '@uiw/react-codemirror';
import type { CodeLanguage } from '../code/languages.ts';
import { insertedText, PATH_MIME, readPath, type ValuePath } from './value-path.ts';

/** Inserts a value into a code editor in place of the selection, and focuses the editor. */
export function insertValue(view: EditorView, path: ValuePath, language: CodeLanguage, at?: number): void {
  const { from, to } = at === undefined ? view.state.selection.main : { from: at, to: at };
  const insert = insertedText(path, language, view.state.sliceDoc(0, from));
  view.dispatch({
    changes: { from, to, insert },
    selection: { anchor: from + insert.length },
    scrollIntoView: true,
    userEvent: 'input.complete',
  });
  view.focus();
}

/** Returns the extension that inserts a dropped value in the syntax of the editor's language. */
export function valueDrop(language: CodeLanguage): Extension {
  return EditorView.domEventHandlers({
    drop: (event, view) => {
      const path = readPath(event.dataTransfer?.getData(PATH_MIME) ?? '');
      if (path === null || view.state.readOnly) return false;
      event.preventDefault();
      insertValue(
        view,
        path,
        language,
        view.posAtCoords({ x: event.clientX, y: event.clientY }) ?? view.state.doc.length,
      );
      return true;
    },
  });
}
