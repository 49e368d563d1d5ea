"The Tide Mill"

The story headline is "A small story for a large machine".

Use scoring.
Rule for printing the banner text: say "The Tide Mill[line break]A small story for a large machine[line break]". [Without the date of its making.]
Use the serial comma.
The maximum score is 12.

When play begins: say "The tide turns at dusk, and the mill has not ground a sack in ten years. Set the millstone turning before you go home."

Part 1 - Places

The Causeway is a room. "A causeway of grey stone leads north to the mill. South of it there is nothing but mud and, very far out, the sea."

The Yard is north of the Causeway. "The mill stands to the north, its door under a stone arch. A shed leans against the wall in the east, and steps lead down to the millrace in the west."

The Shed is east of the Yard. "Nets, floats, and a smell of tar."

The Millrace is west of the Yard. "Water stands still behind the sluice. Steps lead up to the yard in the east."

The Mill Hall is a room. "The hall is high and full of dust. A stair leads up, a hatch leads down, and in the middle stands the millstone."

The mill door is north of the Yard and south of the Mill Hall. The mill door is a door. The mill door is closed, openable, lockable, and locked. The iron key unlocks the mill door.

The Loft is up from the Mill Hall. "Under the roof it is warm and dry. A round window looks west."

The Cellar is down from the Mill Hall. The Cellar is dark. "The cellar is cut into the rock. The wheel shaft passes through the wall."

Part 2 - Things

The workbench is a supporter in the Shed. The workbench is fixed in place. The brass lantern is a device on the workbench. The description of the brass lantern is "A storm lantern with a switch on its side." The coil of rope is on the workbench.

Carry out switching on the brass lantern: now the brass lantern is lit.
Carry out switching off the brass lantern: now the brass lantern is not lit.

The tin box is a closed openable container in the Shed. The iron key is in the tin box.

The sluice is fixed in place in the Millrace. The description of the sluice is "An oak gate with an empty socket where its crank should be." The sluice can be raised. The sluice is not raised.

The millstone is fixed in place in the Mill Hall. The description of the millstone is "[if the sluice is raised]It hums, held back by the shaft lever in the cellar alone.[otherwise]It is as still as the water outside.[end if]". Understand "stone" as the millstone.

The oak chest is a closed openable container in the Loft. The oak chest is fixed in place. The crank is in the oak chest. The description of the crank is "A cast-iron crank with a square end: it would fit the sluice." The loaf of bread is in the oak chest. The loaf of bread is edible.

The grey cat is an animal in the Loft. "A grey cat sits on the sill and watches you." The grey cat can be fed. The grey cat is not fed.

The shaft lever is fixed in place in the Cellar. The description of the shaft lever is "Up, it holds the shaft. Down, it would let it go."

The wool cap is wearable in the Causeway. "Somebody has lost a wool cap here."

Part 3 - Doings

Understand "put [something] in [something]" as inserting it into.
Instead of inserting the crank into the sluice: try raising the sluice.
Instead of turning or pulling or opening the sluice: try raising the sluice.

Raising is an action applying to one thing. Understand "raise [something]" and "lift [something]" as raising.
Check raising: if the noun is not the sluice, say "That is not for raising." instead.
Check raising the sluice: if the crank is not carried, say "There is nothing to turn it with." instead.
Check raising the sluice: if the sluice is raised, say "It is up already." instead.
Carry out raising the sluice:
	now the sluice is raised;
	now the crank is part of the sluice;
	increase the score by 3.
Report raising the sluice: say "You fit the crank and turn it. The gate rises, and the water begins to move."

Instead of giving the loaf of bread to the grey cat:
	now the loaf of bread is nowhere;
	now the grey cat is fed;
	increase the score by 1;
	say "The cat eats all of it, and purrs."

Instead of pushing the shaft lever, try pulling the shaft lever.
Instead of pulling the shaft lever when the sluice is not raised: say "It moves a hand's breadth and stops: there is no water on the wheel."
Instead of pulling the shaft lever:
	increase the score by 4;
	say "The shaft groans, the wheel turns, and overhead the millstone begins to grind.";
	end the story finally.

Instead of jumping in the Millrace: say "The water is deeper than it looks."; end the story saying "You have drowned".
Instead of going west in the Millrace: say "You step off the wall. The water is deeper than it looks."; end the story saying "You have drowned".

After taking the iron key for the first time: increase the score by 1; say "It is cold and heavy."
After taking the crank for the first time: increase the score by 1; say "Taken. It is heavier than it looks."
After going to the Mill Hall from the Yard for the first time: increase the score by 2; continue the action.
