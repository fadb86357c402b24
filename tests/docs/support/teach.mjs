// Teaches a gateway, for the document about learning: `node teach.mjs URL` names what was proven last.
import { teach } from "../../../sdk/typescript/tests/support/lessons.mjs";

const { proven, unproven } = await teach(process.argv[2]);
console.log(`${unproven} is not proven yet\n${proven} is proven`);
