"""The words of the demo grammar. Each English word has one German and one French translation."""

from __future__ import annotations

from aiayn.data.corpora.languages.syntax import (
    Adjective,
    Conjunction,
    Frame,
    Gender,
    Kind,
    Noun,
    Preposition,
    Pronoun,
    Time,
    Verb,
)


def _noun(
    kind: Kind, english: str, gender: Gender, german: str, french: str, *, owned: bool = True
) -> Noun:
    """Forms are singular and plural; a third German form is the weak noun's oblique singular."""
    singular, plural = english.split()
    german_forms = german.split()
    article, french_singular, *french_plural = french.split()
    return Noun(
        kind=kind,
        owned=owned,
        english=singular,
        english_plural=plural,
        german=german_forms[0],
        german_plural=german_forms[1],
        german_oblique=german_forms[-1] if len(german_forms) == 3 else german_forms[0],
        german_gender=gender,
        french=french_singular,
        french_plural=french_plural[0] if french_plural else french_singular + "s",
        french_feminine=article == "une",
    )


NOUNS = (
    _noun("person", "man men", "m", "Mann Männer", "un homme", owned=False),
    _noun("person", "woman women", "f", "Frau Frauen", "une femme", owned=False),
    _noun("person", "child children", "n", "Kind Kinder", "un enfant"),
    _noun("person", "girl girls", "n", "Mädchen Mädchen", "une fille"),
    _noun("person", "neighbour neighbours", "m", "Nachbar Nachbarn Nachbarn", "un voisin"),
    _noun("person", "teacher teachers", "m", "Lehrer Lehrer", "un professeur"),
    _noun("person", "doctor doctors", "m", "Arzt Ärzte", "un médecin"),
    _noun("person", "student students", "m", "Student Studenten Studenten", "un étudiant"),
    _noun("person", "queen queens", "f", "Königin Königinnen", "une reine"),
    _noun("animal", "dog dogs", "m", "Hund Hunde", "un chien"),
    _noun("animal", "cat cats", "f", "Katze Katzen", "un chat"),
    _noun("animal", "horse horses", "n", "Pferd Pferde", "un cheval chevaux"),
    _noun("animal", "bird birds", "m", "Vogel Vögel", "un oiseau oiseaux"),
    _noun("animal", "cow cows", "f", "Kuh Kühe", "une vache"),
    _noun("thing", "book books", "n", "Buch Bücher", "un livre"),
    _noun("thing", "letter letters", "m", "Brief Briefe", "une lettre"),
    _noun("thing", "apple apples", "m", "Apfel Äpfel", "une pomme"),
    _noun("thing", "flower flowers", "f", "Blume Blumen", "une fleur"),
    _noun("thing", "hat hats", "m", "Hut Hüte", "un chapeau chapeaux"),
    _noun("thing", "picture pictures", "n", "Bild Bilder", "une image"),
    _noun("thing", "bag bags", "f", "Tasche Taschen", "un sac"),
    _noun("thing", "chair chairs", "m", "Stuhl Stühle", "une chaise"),
    _noun("place", "garden gardens", "m", "Garten Gärten", "un jardin"),
    _noun("place", "house houses", "n", "Haus Häuser", "une maison"),
    _noun("place", "school schools", "f", "Schule Schulen", "une école"),
    _noun("place", "church churches", "f", "Kirche Kirchen", "une église", owned=False),
    _noun("place", "station stations", "m", "Bahnhof Bahnhöfe", "une gare", owned=False),
    _noun("place", "museum museums", "n", "Museum Museen", "un musée", owned=False),
    _noun("place", "hotel hotels", "n", "Hotel Hotels", "un hôtel"),
)


def _adjective(kinds: tuple[Kind, ...], english: str, german: str, french: str) -> Adjective:
    """French: masculine, feminine; if irregular, masculine plural and the form before a vowel."""
    masculine, feminine, *irregular = french.split()
    plural = irregular[0] if irregular else masculine + "s"
    before_vowel = irregular[1] if len(irregular) > 1 else masculine
    return Adjective(
        kinds=kinds,
        english=english,
        german=german,
        german_stem=german.removesuffix("e"),
        french=(masculine, feminine, plural, feminine + "s", before_vowel),
    )


PERSON: tuple[Kind, ...] = ("person",)
LIVING: tuple[Kind, ...] = ("person", "animal")
THING: tuple[Kind, ...] = ("thing",)
VISIBLE: tuple[Kind, ...] = ("person", "animal", "thing")
EVERY: tuple[Kind, ...] = ("person", "animal", "thing", "place")

BEFORE = (
    _adjective(EVERY, "small", "klein", "petit petite"),
    _adjective(EVERY, "big", "groß", "grand grande"),
    _adjective(EVERY, "old", "alt", "vieux vieille vieux vieil"),
    _adjective(LIVING, "young", "jung", "jeune jeune"),
    _adjective(("thing", "place"), "new", "neu", "nouveau nouvelle nouveaux nouvel"),
    _adjective(EVERY, "beautiful", "schön", "beau belle beaux bel"),
)
AFTER = (
    _adjective(LIVING, "tired", "müde", "fatigué fatiguée"),
    _adjective(LIVING, "happy", "glücklich", "heureux heureuse heureux"),
    _adjective(LIVING, "sick", "krank", "malade malade"),
    _adjective(THING, "red", "rot", "rouge rouge"),
    _adjective(("animal", "thing"), "black", "schwarz", "noir noire"),
    _adjective(("animal", "thing"), "white", "weiß", "blanc blanche"),
    _adjective(("place",), "modern", "modern", "moderne moderne"),
)


def _verb(
    frame: Frame,
    agents: tuple[Kind, ...],
    objects: tuple[Kind, ...],
    english: str,
    german: str,
    french: str,
) -> Verb:
    """Forms in the order of `Verb`. "+" separates a prefix; "ist" and "est" are auxiliaries.

    French: only the infinitive for a regular verb in -er; otherwise first and third person, plural,
    infinitive, participle and two forms of the subjunctive.
    """
    base, third, past = english.split()
    first_person, third_person, infinitive, participle = german.removeprefix("ist ").split()
    prefix, _, infinitive = infinitive.rpartition("+")
    forms = french.removeprefix("est ").split()
    if len(forms) == 1:
        stem = forms[0].removesuffix("er")
        singular, plural = stem + "e", stem + "ent"
        forms = [singular, singular, plural, forms[0], stem + "é", singular, plural]
    return Verb(
        frame=frame,
        agents=agents,
        objects=objects,
        english=(base, third, past),
        german=(first_person, third_person, infinitive, participle),
        german_prefix=prefix,
        german_be=german.startswith("ist "),
        french=(forms[0], forms[1], forms[2], forms[3], forms[4]),
        french_be=french.startswith("est "),
        french_subjunctive=(forms[5], forms[6]),
    )


# fmt: off
VERBS = (
    _verb("alone", LIVING, (), "sleep sleeps slept", "schlafe schläft schlafen geschlafen",
          "dors dort dorment dormir dormi dorme dorment"),
    _verb("alone", LIVING, (), "work works worked", "arbeite arbeitet arbeiten gearbeitet",
          "travailler"),
    _verb("alone", PERSON, (), "sing sings sang", "singe singt singen gesungen", "chanter"),
    _verb("alone", LIVING, (), "dance dances danced", "tanze tanzt tanzen getanzt", "danser"),
    _verb("alone", LIVING, (), "play plays played", "spiele spielt spielen gespielt", "jouer"),
    _verb("alone", LIVING, (), "stay stays stayed", "ist bleibe bleibt bleiben geblieben",
          "est rester"),
    _verb("alone", LIVING, (), "arrive arrives arrived", "ist komme kommt an+kommen angekommen",
          "est arriver"),
    _verb("direct", LIVING, VISIBLE, "see sees saw", "sehe sieht sehen gesehen",
          "vois voit voient voir vu voie voient"),
    _verb("direct", LIVING, VISIBLE, "find finds found", "finde findet finden gefunden", "trouver"),
    _verb("direct", PERSON, VISIBLE, "draw draws drew", "zeichne zeichnet zeichnen gezeichnet",
          "dessiner"),
    _verb("direct", LIVING, LIVING, "watch watches watched",
          "beobachte beobachtet beobachten beobachtet", "observer"),
    _verb("direct", PERSON, LIVING, "greet greets greeted", "grüße grüßt grüßen gegrüßt", "saluer"),
    _verb("direct", PERSON, PERSON, "invite invites invited", "lade lädt ein+laden eingeladen",
          "inviter"),
    _verb("direct", LIVING, THING, "bring brings brought", "bringe bringt mit+bringen mitgebracht",
          "apporter"),
    _verb("direct", LIVING, THING, "carry carries carried", "trage trägt tragen getragen",
          "porter"),
    _verb("direct", PERSON, THING, "forget forgets forgot", "vergesse vergisst vergessen vergessen",
          "oublier"),
    _verb("dative", LIVING, LIVING, "help helps helped", "helfe hilft helfen geholfen", "aider"),
    _verb("dative", PERSON, PERSON, "thank thanks thanked", "danke dankt danken gedankt",
          "remercier"),
    _verb("with", PERSON, LIVING, "talk talks talked", "spreche spricht sprechen gesprochen",
          "parler"),
    _verb("recipient", PERSON, THING, "give gives gave", "gebe gibt geben gegeben", "donner"),
    _verb("recipient", PERSON, VISIBLE, "show shows showed", "zeige zeigt zeigen gezeigt",
          "montrer"),
)
SAYING = (
    _verb("saying", PERSON, (), "say says said", "sage sagt sagen gesagt",
          "dis dit disent dire dit dise disent"),
    _verb("saying", PERSON, (), "think thinks thought", "denke denkt denken gedacht", "penser"),
)
COPULA = _verb("property", LIVING, (), "be is was", "bin ist sein gewesen",
               "suis est sont être été soit soient")
# fmt: on

PRONOUNS = (
    Pronoun(True, False, False, "I", "ich", "je"),
    Pronoun(False, False, False, "he", "er", "il"),
    Pronoun(False, False, True, "she", "sie", "elle"),
)
THEY = Pronoun(False, True, False, "they", "sie", "ils")
PREPOSITIONS = (
    Preposition("in", "in", "dans"),
    Preposition("behind", "hinter", "derrière"),
    Preposition("next to", "neben", "à côté de"),
)
EVERY_DAY = Time("present", "(NP (DT every) (NN day))", "jeden Tag", "tous les jours")
TIMES = (
    Time("present", "(NP (NN today))", "heute", "aujourd'hui"),
    EVERY_DAY,
    Time("present", "(PP (IN in) (NP (DT the) (NN evening)))", "am Abend", "le soir"),
    Time("past", "(NP (NN yesterday))", "gestern", "hier"),
    Time("past", "(NP (DT this) (NN morning))", "heute Morgen", "ce matin"),
    Time("past", "(NP (JJ last) (NN year))", "letztes Jahr", "l'année dernière"),
    Time("future", "(NP (NN tomorrow))", "morgen", "demain"),
    Time("future", "(NP (JJ next) (NN week))", "nächste Woche", "la semaine prochaine"),
)
BECAUSE = Conjunction("because", "weil", "parce que")
WHEN = Conjunction("when", "wenn", "quand")
WHILE = Conjunction("while", "während", "pendant que")
ALTHOUGH = Conjunction("although", "obwohl", "bien que", subjunctive=True)
