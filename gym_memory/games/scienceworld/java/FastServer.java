package gymmemory;

import java.lang.reflect.Field;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.zip.Deflater;
import language.model.ActionRequestDef;
import main.scala.scienceworld.runtime.SimplifierProcessor;
import scala.Option;
import scala.Tuple2;
import scala.Tuple3;
import scala.Tuple4;
import scala.collection.Iterator;
import scala.collection.immutable.Set;
import scala.collection.immutable.Set$;
import scala.collection.mutable.Builder;
import scienceworld.actions.Action;
import scienceworld.actions.PossibleAction;
import scienceworld.input.ActionDefinitions;
import scienceworld.input.InputParser;
import scienceworld.objects.agent.Agent;
import scienceworld.objects.portal.Portal;
import scienceworld.properties.ContainerProperties;
import scienceworld.properties.DeviceProperties;
import scienceworld.runtime.AgentInterface;
import scienceworld.runtime.pythonapi.PythonInterface;
import scienceworld.struct.EnvObject;
import scienceworld.tasks.goals.GoalSequence;
import scienceworld.tasks.goals.ObjMonitor;

/**
 * The engine's own server with its two detours taken out.
 *
 * <p>A command: nearly all time goes into cutting the names of all objects into words by regular
 * expressions, again for every verb and every place in a command where an object may stand. Here a
 * name is cut once in the life of the process, by the engine's own method, and the names of the
 * objects around are collected once a command. All else of the parser is inherited.
 *
 * <p>The list of valid actions: the engine also names every object of the world, which only the
 * action <em>teleport</em> uses. Here that is done where this action exists. The list travels in
 * one piece, compressed.
 *
 * <p>Build with build.sh beside this file.
 */
public final class FastServer {
    private static final char BREAK = '\u001f';
    private static final String UNKNOWN =
            "Unknown action.  Type 'help' for a list of actions, and 'objects' for a list of "
                    + "possible object referents. ";

    private final PythonInterface server = new PythonInterface();
    private final Random gameRandom = scala.util.Random$.MODULE$.self();
    private final Random listRandom = new Random(0);
    private final Field randomField;
    private final Field parserField;

    public FastServer() throws ReflectiveOperationException {
        randomField = scala.util.Random.class.getDeclaredField("self");
        randomField.setAccessible(true);
        parserField = AgentInterface.class.getDeclaredField("inputParser");
        parserField.setAccessible(true);
    }

    /** The engine's server, for whatever is asked rarely. */
    public PythonInterface server() {
        return server;
    }

    /** Builds a world; returns the engine's error, empty where there is none. */
    public String load(String task, int variation, String simplification, boolean gold)
            throws ReflectiveOperationException {
        String error = server.load(task, variation, simplification, gold);
        Option<AgentInterface> world = server.agentInterface();
        if (world.isDefined()) {
            parserField.set(world.get(), new Parser(world.get().actionHandler().getActions()));
        }
        return error;
    }

    /**
     * Plays a command, as PythonInterface.step without its log.
     *
     * @return score in [-1, 1], whether the task ended, text, and the inventory where it is wanted.
     */
    public String step(String command, boolean inventory) {
        String asked = command.trim().toLowerCase();
        String text;
        if (asked.equals("help") || asked.equals("objects") || asked.equals("task")) {
            text = server.step(command);
        } else {
            Tuple3<String, Object, Object> answer = world().step(command);
            server.score_$eq((Double) answer._2());
            server.isComplete_$eq((Boolean) answer._3());
            text = answer._1().isEmpty() ? UNKNOWN : answer._1();
        }
        String carried = inventory ? server.freeActionInventory() : "";
        return "" + server.getScore() + BREAK + server.getCompleted() + BREAK + text + BREAK
                + carried;
    }

    /** The engine's list of valid actions: sorted lines, UTF-8, deflated. */
    public byte[] validActions() throws ReflectiveOperationException {
        String[] actions = list();
        byte[] text = String.join("\n", actions).getBytes(StandardCharsets.UTF_8);
        Deflater deflater = new Deflater(Deflater.BEST_SPEED);
        deflater.setInput(text);
        deflater.finish();
        byte[] packed = new byte[text.length + 64];
        int size = deflater.deflate(packed);
        deflater.end();
        return Arrays.copyOf(packed, size);
    }

    /**
     * All objects of the world, one a line, depth first: depth, uuid, name, class, what the engine
     * writes of it where it is seen, flags (c container, o open, l lid, d device, a active, b
     * broken, h hidden) and what it is connected to by wire (uuids). A door stands below each of
     * the two rooms that it connects, with the name of the other one as its last field.
     */
    public String objects() {
        StringBuilder out = new StringBuilder();
        describe(world().universe(), 0, out);
        return out.toString();
    }

    private static void describe(EnvObject object, int depth, StringBuilder out) {
        line(object, depth, object.getDescription(EnvObject.MODE_CURSORY_DETAIL()), out);
        out.append('\n');
        for (Iterator<Portal> each = object.getPortals(true).iterator(); each.hasNext(); ) {
            Portal door = each.next();
            line(door, depth + 1, door.getDescription(EnvObject.MODE_DETAILED(), object), out);
            Option<EnvObject> to = door.getConnectsTo(object);
            out.append(BREAK).append(to.isDefined() ? to.get().name() : "").append('\n');
            Iterator<EnvObject> part = door.getContainedObjects(true).iterator();
            while (part.hasNext()) {
                describe(part.next(), depth + 2, out);
            }
        }
        Iterator<EnvObject> each = object.getContainedObjects(true).iterator();
        while (each.hasNext()) {
            describe(each.next(), depth + 1, out);
        }
    }

    private static void line(EnvObject object, int depth, String text, StringBuilder out) {
        StringBuilder flags = new StringBuilder();
        if (object.propContainer().isDefined()) {
            ContainerProperties container = object.propContainer().get();
            flags.append(container.isContainer() ? "c" : "");
            flags.append(container.isOpen() ? "o" : "").append(container.isClosable() ? "l" : "");
        }
        if (object.propDevice().isDefined()) {
            DeviceProperties device = object.propDevice().get();
            flags.append(device.isActivable() ? "d" : "").append(device.isActivated() ? "a" : "");
            flags.append(device.isBroken() ? "b" : "");
        }
        if (object instanceof Portal) {
            flags.append(((Portal) object).isCurrentlyPassable() ? "o" : "");
        }
        flags.append(object.isHidden() ? "h" : "");
        StringBuilder wires = new StringBuilder();
        if (object.propElectricalConnection().isDefined()) {
            Iterator<EnvObject> each =
                    object.propElectricalConnection().get().getConnections().iterator();
            while (each.hasNext()) {
                wires.append(wires.length() > 0 ? "," : "").append(each.next().uuid());
            }
        }
        String described = text.replaceAll("\\s+", " ").trim();
        out.append(depth).append(BREAK).append(object.uuid()).append(BREAK).append(object.name());
        out.append(BREAK).append(object.getClass().getSimpleName()).append(BREAK);
        out.append(described).append(BREAK).append(flags).append(BREAK).append(wires);
    }

    private String[] list() throws ReflectiveOperationException {
        AgentInterface world = world();
        if (world.inputParser().isInAmbiguousState()) {
            return world.getValidActionsAmbiguousState();
        }
        listRandom.setSeed(0);
        randomField.set(scala.util.Random$.MODULE$, listRandom);
        try {
            return named(world);
        } finally {
            randomField.set(scala.util.Random$.MODULE$, gameRandom);
        }
    }

    private static String[] named(AgentInterface world) {
        EnvObject here = world.getAgentVisibleObjects(false)._2();
        EnvObject[] visible = collected(here, false);
        EnvObject[] everything = new EnvObject[0];
        boolean teleports =
                SimplifierProcessor.isSimplificationEnabled(
                        SimplifierProcessor.SIMPLIFICATION_TELEPORT_ACTION());
        scala.collection.immutable.Map<Object, String> names = names(world, visible, here);
        if (teleports) {
            everything = collected(world.universe(), true);
        }
        PossibleAction[] possible =
                ActionDefinitions.mkPossibleActions(
                        world.agent(), visible, everything, names, names(world, everything, here));
        String[] actions = new String[possible.length];
        for (int i = 0; i < possible.length; i++) {
            actions[i] = possible[i].mkHumanReadableStr();
        }
        Arrays.sort(actions);
        return actions;
    }

    private static scala.collection.immutable.Map<Object, String> names(
            AgentInterface world, EnvObject[] objects, EnvObject here) {
        return world.inputParser().getAllUniqueReferentsLUTObjList(objects, here, true, true);
    }

    private static EnvObject[] collected(EnvObject root, boolean hidden) {
        scala.collection.mutable.Set<EnvObject> found = InputParser.collectObjects(root, hidden);
        EnvObject[] objects = new EnvObject[found.size()];
        Iterator<EnvObject> each = found.iterator();
        for (int i = 0; each.hasNext(); i++) {
            objects[i] = each.next();
        }
        return objects;
    }

    private AgentInterface world() {
        return server.agentInterface().get();
    }

    /** The engine's parser, remembering the names of objects while it reads one command. */
    private static final class Parser extends InputParser {
        private static final int MOST_WORDS = 200_000;
        private static final Map<String, String> WORDS = new HashMap<>();
        private final List<EnvObject[]> seen = new ArrayList<>();
        private final List<String[][]> seenNames = new ArrayList<>();

        Parser(ActionRequestDef[] actions) {
            super(actions);
        }

        @Override
        public Tuple4<Object, String, String, Option<Action>> parse(
                String input, EnvObject root, EnvObject universe, Agent agent, ObjMonitor monitor,
                GoalSequence goals, EnvObject perspective) {
            seen.clear();
            seenNames.clear();
            return super.parse(input, root, universe, agent, monitor, goals, perspective);
        }

        @Override
        public Tuple2<Object, Tuple2<String, EnvObject>[]> matchObj(
                String input, EnvObject[] objects, EnvObject perspective) {
            String[][] names = namesOf(objects, perspective);
            List<Tuple2<String, EnvObject>> out = new ArrayList<>();
            for (int i = 0; i < objects.length; i++) {
                for (String name : names[i]) {
                    if (input.startsWith(name)) {
                        out.add(new Tuple2<>(input.substring(name.length()).trim(), objects[i]));
                    }
                }
            }
            @SuppressWarnings("unchecked")
            Tuple2<String, EnvObject>[] found = out.toArray(new Tuple2[0]);
            return new Tuple2<>(found.length > 0, found);
        }

        private String[][] namesOf(EnvObject[] objects, EnvObject perspective) {
            for (int i = 0; i < seen.size(); i++) {
                if (seen.get(i) == objects) {
                    return seenNames.get(i);
                }
            }
            String[][] names = new String[objects.length][];
            for (int i = 0; i < objects.length; i++) {
                names[i] = namesOf(objects[i], perspective);
            }
            seen.add(objects);
            seenNames.add(names);
            return names;
        }

        /** As InputParser.getObjectReferents, in the same order. */
        @SuppressWarnings({"rawtypes", "unchecked"})
        private static String[] namesOf(EnvObject object, EnvObject perspective) {
            Set<String> referents = object.getReferentsWithContainers(perspective);
            Builder lowered = Set$.MODULE$.newBuilder();
            for (Iterator<String> each = referents.iterator(); each.hasNext(); ) {
                lowered.$plus$eq(each.next().toLowerCase());
            }
            Set<String> lower = (Set<String>) lowered.result();
            String[] names = new String[lower.size()];
            Iterator<String> each = lower.iterator();
            for (int i = 0; each.hasNext(); i++) {
                names[i] = words(each.next());
            }
            return names;
        }

        private static String words(String name) {
            String words = WORDS.get(name);
            if (words == null) {
                words = String.join(" ", InputParser.tokenize(name));
                if (WORDS.size() >= MOST_WORDS) {
                    WORDS.clear();
                }
                WORDS.put(name, words);
            }
            return words;
        }
    }
}
